"""Names and things that prompts speak of, and what kind of thing some of them are."""

PEOPLE = (
    "Anna", "Ben", "Carla", "David", "Emma", "Felix", "Grace", "Henry", "Ivy", "Jack", "Kate", "Leo",
    "Maria", "Noah", "Olga", "Paul", "Quinn", "Rosa", "Sam", "Tina", "Uma", "Victor", "Wendy", "Zoe",
)  # fmt: skip
GOODS = (
    "pens", "cups", "books", "lamps", "plates", "bags", "hats", "chairs", "brushes", "towels", "bottles", "candles",
    "spoons", "balls", "scarves", "clocks", "pillows", "baskets", "mirrors", "toys",
)  # fmt: skip
CITIES = (
    "Oslo", "Lima", "Cairo", "Paris", "Delhi", "Rome", "Tokyo", "Boston", "Quito", "Dublin", "Prague", "Madrid",
    "Athens", "Vienna", "Nairobi", "Sydney",
)  # fmt: skip
LETTERS = ("A", "B", "C", "D")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
KINDS = {
    "animal": ("dog", "cat", "horse", "cow", "sheep", "lion", "tiger", "bear", "rabbit", "mouse", "goat", "wolf"),
    "fruit": ("apple", "pear", "plum", "lemon", "banana", "cherry", "grape", "mango", "peach", "melon"),
    "tool": ("hammer", "saw", "drill", "wrench", "shovel", "axe", "rake", "chisel", "screwdriver"),
    "vehicle": ("car", "bus", "train", "truck", "bicycle", "boat", "plane", "taxi", "ship", "van", "tractor"),
    "garment": ("shirt", "coat", "sock", "hat", "scarf", "glove", "skirt", "dress", "jacket", "shoe", "sweater"),
    "instrument": ("piano", "violin", "guitar", "drum", "flute", "trumpet", "cello", "harp", "clarinet"),
}
