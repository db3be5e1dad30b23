"""Names and things that prompts speak of. They are surface: no answer depends on which one was drawn."""

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
