"""Sentences of our own from which items of every benchmark kind are put together. No benchmark item is in here.

An item takes one sentence from each pool of its kind, so two items can share sentences without being the same item:
that is what the hard negatives are made of.
"""

from __future__ import annotations

MATH = (
    (
        "{name} writes the whole numbers from {a} to {b} around a circle in some order.",
        "A convex polygon with {a} sides has a circle of radius {b} touching every one of its sides.",
        "Let f be a quadratic polynomial with integer coefficients such that f({a}) equals {b}.",
        "A bag holds {a} amber tokens and {b} violet tokens, and nothing else.",
        "In triangle PQR the side PQ measures {a} and the side QR measures {b}.",
        "{name} climbs a staircase with {a} steps and may take at most {b} steps in one stride.",
        "The sequence s starts with {a} and {b}, and every later term is the sum of the two before it.",
        "A rectangular block measuring {a} by {b} by {c} is built from unit cubes and painted outside.",
    ),
    (
        "No two neighbours may differ by more than {c}.",
        "The product of its two smallest parts leaves a remainder of {c} after division by {d}.",
        "Moreover, exactly {c} of them are allowed to be divisible by {d}.",
        "A second one is drawn afterwards, and the two together are worth {c} points.",
        "The bisector of the largest angle meets the opposite side at distance {c} from a corner.",
        "Every third move is repeated once, and {c} moves are undone at the end.",
        "It is known that the mean of all of them is {c} more than their median.",
        "Afterwards {c} of the corners are cut off by planes parallel to a face diagonal.",
    ),
    (
        "Reflections and rotations of an arrangement are regarded as the same arrangement.",
        "{name} stops as soon as the running total passes {d}.",
        "The whole procedure is carried out {d} times, independently of one another.",
        "Assume that the largest value occurs in only one place.",
        "All of the coordinates involved are positive whole numbers below {d}.",
        "Colours matter, but the order in which they were chosen does not.",
        "The ratio of the shaded part to the rest can be written as a fraction in lowest terms.",
        "No line through the centre splits the figure into two parts of equal weight.",
    ),
    (
        "Find the remainder when the number of ways to do this is divided by {e}.",
        "Determine the sum of the numerator and the denominator of the probability of this event, plus {e}.",
        "How many different final states are possible if {e} moves are made altogether?",
        "What is the greatest value that the expression can take below {e}?",
        "Compute the area of the remaining region, given that the scale is {e} to one.",
        "Find the smallest such number that is greater than {e}.",
    ),
)
SCIENCE = (
    (
        "A dilute solution of a weak acid is titrated with a strong base at constant temperature.",
        "A spinless particle is confined to a harmonic trap whose stiffness is suddenly doubled.",
        "A bacterial culture carries a plasmid with two antibiotic resistance genes in tandem.",
        "An aromatic ketone is treated with a hindered hydride reagent at low temperature.",
        "A binary star shows radial velocity curves of unequal amplitude and equal period.",
        "A membrane protein with seven helices is purified in two different detergents.",
        "A superconducting ring is cooled below its critical temperature in a weak field.",
        "A yeast strain lacking a mismatch repair enzyme is grown for many generations.",
    ),
    (
        "The measured signal decays with two clearly separated time constants.",
        "Addition of a chelating agent abolishes the effect completely.",
        "A control experiment in heavy water runs four times more slowly.",
        "The spectrum shows a doublet where a single line had been expected.",
        "After an hour the optical rotation of the mixture has changed its sign.",
        "Interference disappears as soon as the path is monitored.",
        "Heating the sample by ten degrees leaves the equilibrium position unchanged.",
        "The amplitude scales with the cube of the applied field.",
    ),
    (
        "Which of the following statements explains the observation best?",
        "Which conclusion about the mechanism can be drawn with certainty?",
        "Which quantity has to be measured next in order to decide between the models?",
        "Which assumption of the standard treatment is violated here?",
    ),
)
OPTIONS = (
    "the rate limiting step involves breaking a bond to hydrogen",
    "two nearly degenerate states are mixed by the perturbation",
    "the product is a racemic mixture of both enantiomers",
    "angular momentum is carried away by the emitted photon",
    "the enzyme binds its substrate cooperatively at low pressure",
    "the repressor dissociates from the operator upon methylation",
    "the intermediate is stabilised by hyperconjugation with the ring",
    "flux through the loop is quantised in half integer units",
    "recombination between the repeats removes the second marker",
    "the companion overflows its Roche lobe near periastron",
    "the lone pair is orthogonal to the conjugated system",
    "the zero point energy of the heavier isotopologue is lower",
    "the transcript is spliced differently in the two tissues",
    "spin orbit coupling lifts the threefold degeneracy",
    "the buffer capacity is exhausted before the end point",
    "a kinetic isotope effect masks the change in entropy",
)
ISSUE = (
    (
        "Calling {symbol} with an empty mapping raises {error} instead of returning the default.",
        "Since release {a}.{b} the method {symbol} silently drops the last element of its input.",
        "When two threads enter {symbol} together the cache is left in an inconsistent state.",
        "The option {symbol} is ignored if it is set through the environment rather than in the file.",
        "Serialising an object that {symbol} produced loses the time zone of its timestamps.",
        "{symbol} leaks a file descriptor whenever the server closes the connection early.",
        "Unicode names passed to {symbol} are normalised twice, which breaks lookups.",
        "Documentation says {symbol} accepts an iterator, but a generator is exhausted before use.",
    ),
    (
        "The traceback ends in line {c} of the loader with {error}.",
        "Downgrading to the version before that one makes the problem disappear.",
        "A minimal reproduction is to build the object, copy it, and compare both.",
        "I would have expected the same result as for the positional form.",
        "It only shows up if at least {c} entries are present and one of them is a subclass.",
        "The debugger shows that the fallback branch in {helper} is taken although the flag is set.",
        "Our continuous integration started to fail about {c} days ago because of this.",
        "Setting the private attribute of {helper} by hand works around it for now.",
    ),
    (
        "I am happy to send a fix with a test if somebody can confirm that this is not intended.",
        "The contract described in the guide was clearer before the refactoring of {helper}.",
        "A related discussion came to no conclusion, so I am filing it separately.",
        "Perhaps {helper} ought to be consulted before the early return.",
        "This affects every platform that I could try, including the two older interpreters.",
        "Please note that the nightly build has the very same behaviour.",
    ),
)
TERMINAL = (
    (
        "The folder {path} holds {a} archives whose names were scrambled by a faulty backup job.",
        "A service listening on port {b} refuses every request that carries a body.",
        "The repository in {path} does not build with the compiler that is installed.",
        "A log of {a} megabytes in {path} mixes records of three programs.",
        "The database file {path} was truncated while a writer was active.",
        "A certificate chain in {path} is complete but in the wrong order.",
    ),
    (
        "Recover as much as possible and write a summary with {c} columns to {out}.",
        "Change nothing but the configuration, and make the check in {out} pass.",
        "Produce a script at {out} that does the whole repair without asking anything.",
        "Afterwards {out} must list every entry once, ordered by its size in bytes.",
        "Leave the original untouched, and place a corrected copy at {out}.",
        "Explain the cause in one line of {out} and fix it for all {c} users.",
    ),
    (
        "You may install packages, but the network is switched off after {d} minutes.",
        "Files that are larger than {d} kilobytes do not have to be considered.",
        "The result is compared byte by byte with a reference of {d} lines.",
        "Processes that you start must have ended when the {d} second limit is reached.",
    ),
)
PATCH_LINES = (
    "if not isinstance({x}, {y}Mapping):",
    "raise {y}Error(f'cannot combine {{{x}!r}} with the default')",
    "self._{x}_lock = threading.Lock()",
    "with self._{x}_lock, suppress({y}Error):",
    "return tuple({x}.normalised(value) for value in self.{y}_values)",
    "assert result.{x} == expected_{y}, 'order must be kept'",
    "{x}_cache.pop(self.{y}_key, None)",
    "for {x}, fallback in zip(self.{y}, defaults, strict=True):",
    "logger.debug('skipping %s because of %s', {x}, self.{y})",
    "{y} = {x}.copy() if {x} is not None else dict(self._{y}_defaults)",
)
SYLLABLES = ("ka", "lo", "mir", "ten", "vas", "qui", "dor", "pel", "sha", "rin", "bo", "zet", "nu", "gal", "fi", "wex")
NAMES = ("Tamsin", "Orlando", "Brigitta", "Kwame", "Ilse", "Jorund", "Paloma", "Dmitri", "Aoife", "Renzo")
SYNONYMS = {
    "find": "determine", "determine": "work out", "compute": "calculate", "whole": "entire", "largest": "biggest",
    "smallest": "least", "number": "count", "different": "distinct", "allowed": "permitted", "afterwards": "then",
    "every": "each", "holds": "contains", "contains": "holds", "begin": "start", "starts": "begins", "raises": "throws",
    "instead": "rather", "problem": "trouble", "shows": "displays", "measured": "recorded", "changed": "altered",
    "explains": "accounts for", "statements": "claims", "conclusion": "inference", "method": "routine",
    "silently": "quietly", "drops": "loses", "folder": "directory", "produce": "create", "change": "modify",
    "nothing": "no thing", "known": "given", "exactly": "precisely", "possible": "feasible", "greatest": "highest",
    "following": "subsequent", "observation": "finding", "treated": "reacted", "constant": "fixed",
    "expected": "anticipated", "result": "outcome", "together": "jointly", "completely": "entirely", "only": "just",
    "assume": "suppose", "positive": "strictly positive", "below": "under", "repeated": "done again",
}  # fmt: skip
GERMAN = {
    "the": "der", "a": "ein", "an": "ein", "of": "von", "and": "und", "to": "zu", "is": "ist", "are": "sind",
    "with": "mit", "from": "von", "by": "durch", "which": "welche", "that": "dass", "how": "wie", "many": "viele",
    "find": "finde", "number": "Anzahl", "numbers": "Zahlen", "whole": "ganzen", "no": "kein", "not": "nicht",
    "two": "zwei", "three": "drei", "more": "mehr", "than": "als", "all": "alle", "every": "jede", "as": "wie",
    "when": "wenn", "if": "falls", "what": "was", "one": "eins", "some": "mancher", "for": "fuer", "on": "auf",
    "it": "es", "its": "sein", "their": "ihr", "them": "sie", "this": "dies", "be": "sein", "at": "bei", "or": "oder",
    "sum": "Summe", "same": "gleiche", "sides": "Seiten", "side": "Seite", "circle": "Kreis", "steps": "Stufen",
    "largest": "groesste", "smallest": "kleinste", "divided": "geteilt", "remainder": "Rest", "ways": "Wege",
    "different": "verschiedene", "possible": "moeglich", "value": "Wert", "order": "Reihenfolge", "file": "Datei",
    "folder": "Ordner", "has": "hat", "was": "war", "were": "waren", "may": "darf", "only": "nur", "but": "aber",
    "where": "wo", "after": "nach", "before": "vor", "must": "muss", "you": "du", "out": "aus", "second": "zweite",
}  # fmt: skip
SPANISH = {
    "the": "el", "a": "un", "an": "un", "of": "de", "and": "y", "in": "en", "to": "a", "is": "es", "are": "son",
    "with": "con", "from": "desde", "by": "por", "which": "cual", "that": "que", "how": "como", "many": "muchos",
    "find": "halle", "number": "numero", "numbers": "numeros", "whole": "enteros", "no": "ningun", "not": "no",
    "two": "dos", "three": "tres", "more": "mas", "than": "que", "all": "todos", "every": "cada", "as": "como",
    "when": "cuando", "if": "si", "what": "que", "one": "uno", "some": "algun", "for": "para", "on": "sobre",
    "it": "lo", "its": "su", "their": "su", "them": "ellos", "this": "esto", "be": "ser", "at": "en", "or": "o",
    "sum": "suma", "same": "mismo", "sides": "lados", "side": "lado", "circle": "circulo", "steps": "pasos",
    "largest": "mayor", "smallest": "menor", "divided": "dividido", "remainder": "resto", "ways": "maneras",
    "different": "distintos", "possible": "posibles", "value": "valor", "order": "orden", "file": "archivo",
    "folder": "carpeta", "has": "tiene", "was": "fue", "were": "fueron", "may": "puede", "only": "solo", "but": "pero",
    "where": "donde", "after": "despues", "before": "antes", "must": "debe", "you": "tu", "out": "fuera",
    "second": "segundo",
}  # fmt: skip
