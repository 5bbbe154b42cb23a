"""Sheet's engine: cells, formulas, patterns, lines, merges, sorting, copies."""

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core.errors import InvalidState
from agentgym.envs.sheet.cells import cell, read_entered, read_plain, shown
from agentgym.envs.sheet.formula import Formula, Trouble, evaluate, read_formula
from agentgym.envs.sheet.pattern import Pattern
from agentgym.envs.sheet.positions import place_of, position_of
from agentgym.envs.sheet.sheet import Area, Sheet
from agentgym.envs.sheet.workbook import Workbook
from agentgym.envs.tools import ToolError, WrongValue


def sheet(rows, formats=()):
    return Workbook.of({"S": {"rows": rows, "formats": list(formats)}})


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.4, "0.00", "0.40"),
        (0.125, "0.00", "0.13"),
        (-0.001, "0.00", "0.00"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0.25, "0%", "25%"),
        (0.1 + 0.2, "General", "0.3"),
        (444.0, "General", "444"),
        (1e20, "General", "1E+20"),
        (True, "General", "TRUE"),
        (1.0, "@", "1"),
        ("text", "0.00", "text"),
        (None, "0.00", ""),
    ],
)
def test_a_number_format_says_how_a_value_is_shown(value, form, text):
    assert shown(value, form) == text


@pytest.mark.parametrize(
    ("written", "plain", "entered"),
    [
        ("45", 45.0, (45.0, "")),
        (" -2.50 ", -2.5, (-2.5, "")),
        ("5%", "5%", (0.05, "0%")),
        ("1,234", "1,234", (1234.0, "#,##0")),
        ("true", "true", (True, "")),
        ("'7", "'7", ("7", "")),
        ("nan", "nan", ("nan", "")),
        ("", None, (None, "")),
        ("=1+1", "=1+1", (read_formula("=1+1"), "")),
    ],
)
def test_ranges_take_numbers_and_text_while_a_cell_reads_what_is_typed(written, plain, entered):
    assert read_plain(written, "value") == plain
    assert read_entered(written, "value") == entered


@pytest.mark.parametrize("value", [[1], {"a": 1}, float("inf"), 10**400, "x" * 1_001])
def test_what_no_cell_can_hold_is_refused(value):
    with pytest.raises(WrongValue, match="argument 'value' must hold"):
        read_plain(value, "value")


@given(st.integers(0, 999), st.integers(0, 25))
def test_positions_are_written_and_read_alike(row, column):
    assert place_of(position_of(row, column)) == (row, column)


@pytest.mark.parametrize("text", ["", "B", "3", "AA1", "A0", "A1001", "B3:C4", "Sheet1!B3", "Ä1"])
def test_what_is_no_position_is_refused(text):
    with pytest.raises(ValueError, match="no cell"):
        place_of(text)


def value_of(text, cells):
    return evaluate(read_formula(text), lambda r, c: cells.get(position_of(r, c)))


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(A1:A3)", 6),
        ("=average(A1:A4)", 2),
        ("=COUNT(A1:B3)", 3),
        ("=MAX(A1,A3,0)", 3),
        ("=MIN(B1:B3)", 0),
        ("=MINUS(A3,A1)", 2),
        ("=PRODUCT(A1:A3)", 6),
        ("=PRODUCT(B1:B2)", 0),
        ("=A1+A2*A3^2", 19),
        ("=-A2^2", 4 - 8),
        ("=(A1+A2)*50%", 1.5),
        ("=ROUND(2.345*100)/100", 2.35),
        ("=C9+1", 1),
    ],
)
def test_formulas_calculate_with_numbers_alone(formula, value):
    cells = {"A1": 1.0, "A2": 2.0, "A3": 3.0, "B1": "text", "B2": True}
    assert value_of(formula, cells) == pytest.approx(value)


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("=1/0", "#DIV/0!"),
        ("=AVERAGE(C1:C3)", "#DIV/0!"),
        ("=A1+1", "#VALUE!"),
        ("=10^10^10", "#NUM!"),
        ("=(-1)^0.5", "#NUM!"),
        ("=#REF!+1", "#REF!"),
    ],
)
def test_what_cannot_be_calculated_shows_as_in_a_spreadsheet(formula, code):
    with pytest.raises(Trouble, match=re.escape(code)):
        value_of(formula, {"A1": "text"})


@pytest.mark.parametrize(
    "formula",
    [
        "=",
        "=SUM(",
        "=1+",
        "=A1:",
        "=EXEC(1)",
        "=__import__('os')",
        "=" + "(" * 99 + "1" + ")" * 99,
        "=" + "+".join("1" * 30),
        "=1" + "^1" * 60,
        "=ABS(1,2)",
        "=" + "-" * 60 + "1",
        "=A1 A2",
    ],
)
def test_what_is_no_formula_is_refused_with_a_reason(formula):
    with pytest.raises(ValueError, match=r"\w"):
        read_formula(formula)


trees = st.recursive(
    st.one_of(
        st.integers(0, 99).map(lambda n: ("number", float(n))),
        st.tuples(st.just("cell"), st.integers(0, 999), st.integers(0, 25)),
        st.just(("lost",)),
        st.just(("range", 0, 0, 3, 2)),
    ),
    lambda inner: st.one_of(
        st.tuples(st.just("op"), st.sampled_from("+-*/^"), inner, inner),
        st.tuples(st.just("minus"), inner),
        st.tuples(st.just("call"), st.just("SUM"), st.tuples(inner, inner)),
    ),
    max_leaves=8,
)


@given(trees)
def test_a_formula_is_read_as_it_was_written(tree):
    formula = Formula(tree)
    assert read_formula(str(formula)) == formula


def test_formulas_follow_what_they_refer_to():
    book = sheet([["a", "b", "sum"], [1, 2, None], [3, 4, None], [5, 6, None]])
    for r in (1, 2, 3):
        book.write("S", r, 2, [[(read_formula(f"=SUM(A{r + 1}:B{r + 1})"), "")]])
    assert [row[2] for row in book.values("S")] == ["sum", "3", "7", "11"]
    book.write("S", 1, 0, [[(10.0, "")]])
    assert book.values("S")[1] == ["10", "2", "12"]
    book.sort("S", 0, False)
    book.freeze("S", 0, 1)
    book.sort("S", 1, True)
    book.insert("S", 1, 0, [["new"]], False)
    sums = {row[1]: row[3] for row in book.values("S")}
    assert sums == {"a": "sum", "10": "12", "5": "11", "3": "7"}
    book.remove("S", 1, [2])
    assert {row[1]: row[2] for row in book.values("S")}["5"] == "5"
    book.remove("S", 1, [1])
    assert "#REF!" in {text for row in book.values("S") for text in row}


def test_formulas_in_a_circle_or_too_deep_show_an_error():
    book = sheet([["x", None]])
    book.write("S", 0, 1, [[(read_formula("=B1+1"), "")]])
    assert book.values("S") == [["x", "#REF!"]]
    chain = sheet([[1] + [None] * 20])
    for c in range(1, 21):
        left = position_of(0, c - 1)
        chain.write("S", 0, c, [[(read_formula(f"={left}+1"), "")]])
    assert chain.values("S")[0][5] == "6"
    assert chain.values("S")[0][20] == "#REF!"


@pytest.mark.parametrize(
    "formula",
    ["=SUM(1e308,1e308)", "=ROUND(1e308,15)", "=ROUND(1e999-1e999)", "=SUM(1e999,-1e999)"],
)
def test_what_is_too_large_to_calculate_shows_an_error(formula):
    book = sheet([["x", None]])
    assert book.compute("S", formula) == "#NUM!"
    book.write("S", 0, 1, [[(read_formula(formula), "")]])
    assert book.values("S") == [["x", "#NUM!"]]


def test_formulas_that_name_others_many_times_are_worked_out_once():
    book = sheet([[1]])
    for r in range(1, 11):  # 40 ** 10 additions if each were followed anew
        book.write("S", r, 0, [[(read_formula(f"=SUM({','.join([f'A{r}'] * 40)})"), "")]])
    assert book.values("S")[2:4] == [["1600"], ["64000"]]
    assert float(book.values("S")[10][0]) == 40.0**10


@pytest.mark.parametrize(
    "formula",
    [
        f"=SUM({','.join(['A1'] * 330)})",
        f"={'*'.join(['1%'] * 20)}",
        "=SUM(A1:Z500,A1:Z500)",
    ],
)
def test_a_formula_that_grew_is_loaded_again(formula):
    book = sheet([[1], [2]])
    book.write("S", 600, 0, [[(read_formula(formula), "")]])
    book.insert("S", 0, 0, [["x"]] * 120, False)
    again = sheet([[1]])
    again.load(json.loads(json.dumps(book.save())))
    assert again.values("S") == book.values("S")
    assert again.save() == book.save()


def test_a_formula_reads_a_whole_sheet_once_and_no_more():
    assert sheet([[1], [2]]).compute("S", "=SUM(A1:Z1000)") == "3"
    with pytest.raises(ValueError, match="more than 26000 cells"):
        read_formula("=SUM(A1:Z1000,A1:A2)")


def test_a_formula_takes_the_format_of_the_first_cell_it_names():
    book = sheet([["a", "b"], [1, None]], ["0.00"])
    book.write("S", 1, 1, [[(read_formula("=A2*2"), "")]])
    assert book.values("S")[1] == ["1.00", "2.00"]
    assert book.compute("S", "=SUM(A2:B2)") == "3.00"


def test_sorting_puts_numbers_before_text_and_blanks_last_and_keeps_ties():
    rows = [["b", 1], [3, 2], [None, 3], ["A", 4], [1, 5], [3, 6], [True, 7]]
    book = sheet(rows)
    book.sort("S", 0, False)
    assert [row[1] for row in book.values("S")] == ["5", "2", "6", "4", "1", "7", "3"]
    book = sheet(rows)
    book.sort("S", 0, True)
    assert [row[1] for row in book.values("S")] == ["7", "1", "4", "2", "6", "5", "3"]
    book.freeze("S", 0, 2)
    book.sort("S", 1, False)
    assert [row[1] for row in book.values("S")] == ["7", "1", "2", "3", "4", "5", "6"]


def test_merged_cells_show_one_value_and_move_with_the_lines():
    book = sheet([["t", "u", "x"], ["a", 1, 2], [None, 3, 4], ["b", 5, 6]])
    book.merge("S", Area(1, 0, 2, 0))
    book.merge("S", Area(0, 0, 0, 1))
    assert book.values("S")[:3] == [["t", "t", "x"], ["a", "1", "2"], ["a", "3", "4"]]
    assert book.plain("S")[0] == ["t", "", "x"]
    before = book.save()
    with pytest.raises(WrongValue, match="A2:A3 stand among the rows to sort"):
        book.sort("S", 1, False)
    with pytest.raises(WrongValue, match="would cut the merged cells A2:A3"):
        book.merge("S", Area(2, 0, 3, 0))
    with pytest.raises(WrongValue, match="another cell"):
        book.merge("S", Area(3, 0, 3, 0))
    assert book.save() == before
    book.insert("S", 0, 1, [["new"]], False)
    assert list(map(str, book.merges("S"))) == ["A3:A4", "A1:B1"]
    book.remove("S", 0, [2, 3])
    assert list(map(str, book.merges("S"))) == ["A1:B1"]
    book.merge("S", Area(0, 0, 1, 2))
    assert list(map(str, book.merges("S"))) == ["A1:C2"]


def test_inserted_lines_take_the_format_of_a_neighbour():
    book = sheet([["a", "b"], [1, 2]], ["0.0", "0.00"])
    book.insert("S", 0, 1, [[3.0, 4.0]], False)
    book.insert("S", 0, 3, [[5.0, 6.0]], True)
    assert book.values("S")[1:] == [["3.0", "4.00"], ["1.0", "2.00"], ["5.0", "6.00"]]
    book.insert("S", 1, 1, [["c", 7.0]], False)
    book.insert("S", 1, 3, [["d", 8.0]], True)
    assert book.values("S")[1] == ["3.0", "7.00", "4.00", "8.00"]
    assert book.values("S")[0] == ["a", "c", "b", "d"]


def test_notes_move_with_their_rows():
    book = Workbook.of({"S": {"rows": [["n"], [2], [1]], "notes": {"A2": "two"}}})
    book.freeze("S", 0, 1)
    book.sort("S", 0, False)
    assert book.notes("S") == {(2, 0): "two"}
    book.set_note("S", 2, 0, "")
    assert book.notes("S") == {}


def test_a_sheet_too_large_to_be_shown_is_refused_and_stays():
    book = sheet([["a"]])
    before = book.save()
    with pytest.raises(WrongValue, match="at most 16000 are kept"):
        book.write("S", 999, 25, [[(1.0, "")]])
    with pytest.raises(ToolError, match="only sheet"):
        book.delete("S")
    assert book.save() == before


def test_a_workbook_is_saved_and_loaded_whole():
    book = Workbook.of({"S": {"rows": [["n", 1]], "notes": {"A1": "x"}}, "T": {"rows": [[True]]}})
    book.write("S", 1, 1, [[(read_formula("=B1*(2-1)"), "0.0")]])
    book.merge("S", Area(2, 0, 3, 1))
    book.freeze("S", 0, 1)
    twin = sheet([["other"]])
    twin.load(book.save())
    assert twin.save() == book.save()
    assert twin.values("S") == book.values("S")


@pytest.mark.parametrize(
    "damage",
    [
        [],
        {},
        {"S": {}},
        {"S": {"id": 0, "rows": [[1]], "merges": [], "frozen": [0, 0]}},
        {"S": {"id": 0, "rows": [[None], []], "merges": [], "frozen": [0, 0]}},
        {"S": {"id": 0, "rows": [], "merges": [[5, 0, 1, 0]], "frozen": [0, 0]}},
        {"S": {"id": 0, "rows": [], "merges": [], "frozen": [0]}},
        {
            "S": {
                "id": 0,
                "rows": [[[{"formula": "=EXEC(1)"}, "", ""]]],
                "merges": [],
                "frozen": [0, 0],
            }
        },
    ],
)
def test_a_damaged_workbook_is_refused(damage):
    with pytest.raises(InvalidState):
        sheet([["a"]]).load(damage)


def test_a_copy_shares_nothing_that_changes():
    first = Sheet("S", [[cell("a"), cell(1.0)]])
    second = first.copy()
    second.write(0, 0, [[("b", "")]])
    second.merge(Area(0, 0, 1, 0))
    assert (first.values, first.merges) == ([["a", "1"]], [])
    assert second.values == [["b", "1"]]


# Patterns.

TEXTS = ["", "a", "ab", "aab", "b a", "12", "-1", "a1b2", "Fruits", "x\ny", "a.b", "AB", "a_b"]


@pytest.mark.parametrize(
    "pattern",
    [
        "a",
        "^a",
        "a$",
        "^$",
        "^(a|b)+$",
        "a*b",
        "a+?b",
        "[ab]{2}",
        "[^a-c]",
        r"\d",
        r"^-?\d+$",
        r"\bb",
        r"a\.b",
        ".",
        "^.+$",
        r"\w\s\w",
        "a{2,}",
        "(?:ab|12)$",
        "(?P<n>a)b",
        "x?a1",
        r"[\d_]",
        "(?i)ab",
        "(?i)^[a-b]+$",
        r"\Aab\Z",
        "-1",
        "^(Fruits|Vegetables)$",
        "a|",
        "()",
        "[]a]",
        "a{0}",
        r"\S+\Bb",
    ],
)
def test_patterns_find_what_pythons_do(pattern):
    for text in TEXTS:
        assert Pattern(pattern).found_in(text) is bool(re.search(pattern, text)), (pattern, text)


pieces = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\b", "^", "$", "1"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("({})".format),
        st.tuples(inner, st.sampled_from("*+?")).map(lambda t: f"({t[0]}){t[1]}"),
        inner.map("({}){{1,2}}".format),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(pieces, st.text("ab1 ", max_size=6))
def test_any_pattern_finds_what_pythons_does(pattern, text):
    assert Pattern(pattern).found_in(text) is bool(re.search(pattern, text))


def test_a_compiled_pattern_is_read_as_published():
    assert Pattern("re.compile('^(Vegetables|Fruits)$')").found_in("Fruits")
    assert Pattern('re.compile(r"^fruits$", re.I)').found_in("Fruits")
    assert not Pattern("re.compile('^fruits$')").found_in("Fruits")


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "[a",
        "a**",
        "*a",
        "(?=a)",
        r"(a)\1",
        "a{3,1}",
        r"\p",
        "(a{9}){99}",
        "x" * 201,
        "\\",
        "(" * 30 + ")" * 30,
        "[b-a]",
        "(?<!a)b",
    ],
)
def test_a_pattern_that_is_none_is_refused_with_a_reason(pattern):
    with pytest.raises(ValueError, match=r"\w"):
        Pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]$", "(.*)*x"]
)
def test_patterns_that_take_python_for_ever_take_no_time(pattern):
    begin = time.process_time()
    Pattern(pattern).found_in("a" * 1_000 + "!")
    assert time.process_time() - begin < 2
