"""The rows of a hospital: who was admitted, with what, what was measured, given and billed.

Each patient is followed along the calendar: admitted, discharged, perhaps back within a month, and
never again after death. Laboratory values follow from the diagnoses and bills from the days, so
that a question about one table can be checked against another.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

FIRST, LAST = datetime(2023, 1, 1), datetime(2024, 6, 30, 23, 59)

# code, name, floor, beds, mean days of a stay, dollars a day, share of the admissions
DEPARTMENTS: Rows = [
    ("CARD", "Cardiology", 3, 28, 5, 2900, 22),
    ("PULM", "Pulmonology", 3, 22, 6, 2300, 15),
    ("ORTH", "Orthopedics", 4, 30, 5, 3300, 18),
    ("GAST", "Gastroenterology", 2, 20, 4, 2200, 14),
    ("NEUR", "Neurology", 5, 18, 7, 2800, 11),
    ("ENDO", "Endocrinology", 2, 12, 5, 1900, 9),
    ("OBST", "Obstetrics", 1, 16, 3, 2400, 11),
    ("PALL", "Palliative Care", 6, 8, 9, 1500, 2),
]
INSURERS: Rows = [
    ("HLX", "Helix Mutual", "PPO"),
    ("NBR", "Northbridge Health", "HMO"),
    ("UNI", "Unity Plan", "HMO"),
    ("GOV", "State Health Fund", "PUBLIC"),
    ("VET", "Veterans Care", "PUBLIC"),
    ("SOL", "Solace Insurance", "PPO"),
]
# code, description, chapter, chronic, departments where it is the reason for admission
ICD: Rows = [
    ("I10", "Essential hypertension", "Circulatory", 1, ""),
    ("I21.9", "Acute myocardial infarction", "Circulatory", 0, "CARD"),
    ("I48.91", "Atrial fibrillation", "Circulatory", 1, "CARD"),
    ("I50.9", "Heart failure", "Circulatory", 1, "CARD"),
    ("I63.9", "Cerebral infarction", "Circulatory", 0, "NEUR"),
    ("J18.9", "Pneumonia", "Respiratory", 0, "PULM"),
    ("J44.1", "COPD with acute exacerbation", "Respiratory", 1, "PULM"),
    ("J45.901", "Asthma with acute exacerbation", "Respiratory", 1, "PULM"),
    ("S72.001", "Fracture of neck of femur", "Injury", 0, "ORTH"),
    ("S82.90", "Fracture of lower leg", "Injury", 0, "ORTH"),
    ("M17.11", "Osteoarthritis of knee", "Musculoskeletal", 1, "ORTH"),
    ("M54.5", "Low back pain", "Musculoskeletal", 1, ""),
    ("K80.20", "Gallstones", "Digestive", 0, "GAST"),
    ("K57.30", "Diverticulosis", "Digestive", 1, "GAST"),
    ("K92.2", "Gastrointestinal hemorrhage", "Digestive", 0, "GAST"),
    ("G40.909", "Epilepsy", "Nervous", 1, "NEUR"),
    ("G35", "Multiple sclerosis", "Nervous", 1, "NEUR"),
    ("E11.65", "Type 2 diabetes with hyperglycemia", "Endocrine", 1, "ENDO"),
    ("E10.10", "Type 1 diabetes with ketoacidosis", "Endocrine", 1, "ENDO"),
    ("E11.9", "Type 2 diabetes", "Endocrine", 1, ""),
    ("E78.5", "Hyperlipidemia", "Endocrine", 1, ""),
    ("E87.6", "Hypokalemia", "Endocrine", 0, ""),
    ("N18.3", "Chronic kidney disease, stage 3", "Genitourinary", 1, ""),
    ("N17.9", "Acute kidney failure", "Genitourinary", 0, ""),
    ("D64.9", "Anemia", "Blood", 0, ""),
    ("O80", "Full-term uncomplicated delivery", "Pregnancy", 0, "OBST"),
    ("O14.90", "Pre-eclampsia", "Pregnancy", 0, "OBST"),
    ("C34.90", "Cancer of lung", "Neoplasm", 1, "PALL"),
    ("B35.1", "Nail fungus", "Infectious", 1, ""),
]
COMORBID = ["I10", "E78.5", "E11.9", "N18.3", "D64.9", "M54.5", "I48.91", "I50.9", "J44.1"]
COMORBID_WEIGHTS = [28, 18, 16, 9, 8, 7, 6, 5, 4]
ACQUIRED = ["E87.6", "N17.9", "D64.9", "J18.9"]
DIABETES = ("E11.65", "E10.10", "E11.9")

# code, name, unit, lowest and highest normal value, spread
TESTS: Rows = [
    ("GLU", "Glucose", "mg/dL", 70.0, 110.0, 14.0),
    ("CREA", "Creatinine", "mg/dL", 0.6, 1.2, 0.22),
    ("K", "Potassium", "mmol/L", 3.5, 5.1, 0.45),
    ("NA", "Sodium", "mmol/L", 135.0, 145.0, 3.0),
    ("HGB", "Hemoglobin", "g/dL", 12.0, 16.0, 1.3),
    ("WBC", "White blood cells", "10^9/L", 4.0, 11.0, 2.0),
    ("TSH", "Thyrotropin", "mIU/L", 0.4, 4.0, 0.9),
]
# drug, dose, unit, route, frequency, diagnoses it is given for ("" for any)
DRUGS: Rows = [
    ("Metoprolol", 25.0, "mg", "PO", "BID", ("I10", "I48.91", "I50.9", "I21.9")),
    ("Lisinopril", 10.0, "mg", "PO", "QD", ("I10", "I50.9")),
    ("Furosemide", 40.0, "mg", "IV", "BID", ("I50.9",)),
    ("Aspirin", 81.0, "mg", "PO", "QD", ("I21.9", "I63.9")),
    ("Atorvastatin", 40.0, "mg", "PO", "QD", ("E78.5", "I21.9")),
    ("Metformin", 0.5, "g", "PO", "BID", ("E11.9", "E11.65")),
    ("Insulin", 10.0, "IU", "SC", "TID", DIABETES),
    ("Ceftriaxone", 1.0, "g", "IV", "QD", ("J18.9",)),
    ("Prednisone", 40.0, "mg", "PO", "QD", ("J44.1", "J45.901")),
    ("Levetiracetam", 500.0, "mg", "PO", "BID", ("G40.909",)),
    ("Potassium chloride", 1.5, "g", "PO", "BID", ("E87.6",)),
    ("Pantoprazole", 40.0, "mg", "IV", "QD", ("K92.2",)),
    ("Enoxaparin", 40.0, "mg", "SC", "QD", ("S72.001", "M17.11", "I48.91")),
    ("Paracetamol", 1.0, "g", "PO", "PRN", ()),
    ("Morphine", 5.0, "mg", "IV", "PRN", ("S72.001", "S82.90", "C34.90")),
    ("Oxytocin", 10.0, "IU", "IV", "ONCE", ("O80",)),
]
CITIES = ["Fairhaven", "FAIRHAVEN", "fairhaven ", "Halbrook", "Silverton", "Coldwater", "Unknown"]
CITY_WEIGHTS = [44, 6, 4, 20, 14, 9, 3]


def _physicians(draw: Draw) -> Rows:
    """The first of each department leads it; juniors are supervised by a senior of the same."""
    rows: Rows = []
    for department in DEPARTMENTS:
        chief = 101 + len(rows)
        count = 3 + department[3] // 6
        for index in range(count):
            rank = "CH" if index == 0 else "AT" if index <= count // 2 else "RE"
            boss = None
            if rank != "CH":
                boss = chief if rank == "AT" else chief + 1 + draw.below(max(1, count // 2))
            first = {"CH": 1998, "AT": 2008, "RE": 2020}[rank]
            year = first + draw.below({"CH": 14, "AT": 12, "RE": 3}[rank])
            hired = f"{year}-{draw.between(1, 12):02d}-01"
            left = None
            if rank == "AT" and draw.chance(0.12):
                left = f"2024-{draw.between(4, 6):02d}-{draw.pick(['15', '30'])}"
            person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES))
            rows.append((101 + len(rows), *person, department[0], rank, boss, hired, left))
    return rows


def _born(draw: Draw, department: str) -> datetime:
    oldest, youngest = {"OBST": (1980, 2004), "ORTH": (1935, 2008)}.get(department, (1933, 1996))
    return datetime(oldest, 1, 1) + timedelta(days=draw.below((youngest - oldest) * 365))


def _stay(draw: Draw, mean: int) -> timedelta:
    hours = 14 + int(mean * 24 * (0.25 + 0.9 * draw.unit() + 0.9 * draw.unit() ** 6))
    return timedelta(hours=hours, minutes=draw.below(60))


def _reasons(draw: Draw, department: str, chronic: list[str]) -> list[tuple[str, str | None]]:
    """Return (code, present on admission) of one stay, the reason for it first."""
    if department == "PALL":
        main = "C34.90"
    else:
        main = draw.pick([row[0] for row in ICD if row[4] == department])
    found: list[tuple[str, str | None]] = [(main, "Y")]
    found += [(code, "Y") for code in chronic if code != main]
    if draw.chance(0.16):
        code = draw.pick(ACQUIRED)
        if code not in [known for known, _ in found]:
            found.append((code, draw.weighted(["N", "Y", "U", None], [70, 18, 6, 6])))
    return found


def _timeline(
    draw: Draw, pat_id: int, department: str, chronic: list[str], age: int
) -> tuple[Rows, list[list[tuple[str, str | None]]], str | None]:
    """Return a patient's admissions, without id and physician, their diagnoses, and the death."""
    stays: Rows = []
    reasons: list[list[tuple[str, str | None]]] = []
    begin = FIRST + timedelta(minutes=draw.below(546 * 24 * 60))
    again = 0.1 + 0.13 * len(chronic)
    while begin < LAST - timedelta(days=1):
        info = next(row for row in DEPARTMENTS if row[0] == department)
        end = begin + _stay(draw, info[4])
        found = _reasons(draw, department, chronic)
        kind = draw.weighted(["EM", "UR", "EL"], [55, 20, 25])
        if department in ("OBST", "PALL"):
            kind = "UR" if department == "OBST" else "EL"
        risk = 0.6 if department == "PALL" else 0.015 + 0.0011 * max(0, age - 45)
        most = min(120, int((min(end, LAST) - begin).total_seconds() // 3600) - 2)
        hours = draw.between(6, most) if draw.chance(0.14) and department != "OBST" else None
        if end > LAST:
            stays.append((pat_id, department, begin, None, kind, None, hours))
            return stays, [*reasons, found], None
        if department != "OBST" and draw.chance(risk):
            stays.append((pat_id, department, begin, end, kind, "EXP", hours))
            return stays, [*reasons, found], end.strftime("%Y-%m-%d")
        where = draw.weighted(["HOME", "SNF", "REHAB", "AMA"], [76, 10, 10, 4])
        stays.append((pat_id, department, begin, end, kind, where, hours))
        reasons.append(found)
        if department == "OBST" or not draw.chance(again):
            break
        gap = draw.between(2, 30) if draw.chance(0.4) else draw.between(31, 260)
        begin = end + timedelta(days=gap, minutes=draw.below(1000))
        if department == "PULM" and draw.chance(0.12):
            department = "PALL"
        elif draw.chance(0.25):
            department = draw.pick(["CARD", "PULM", "GAST", "NEUR", "ENDO"])
    return stays, reasons, None


def _patients(draw: Draw) -> tuple[Rows, Rows, list[list[tuple[str, str | None]]]]:
    patients: Rows = []
    stays: Rows = []
    reasons: list[list[tuple[str, str | None]]] = []
    weights = [department[6] for department in DEPARTMENTS]
    codes = [department[0] for department in DEPARTMENTS]
    for index in range(540):
        department = draw.weighted(codes, weights)
        born = _born(draw, department)
        age = 2023 - born.year
        many = draw.weighted([0, 1, 2, 3], [18, 30, 32, 20] if age > 55 else [62, 26, 10, 2])
        chronic: list[str] = []
        while len(chronic) < many:
            code = draw.weighted(COMORBID, COMORBID_WEIGHTS)
            if code not in chronic:
                chronic.append(code)
        death = None
        if draw.chance(0.94):  # The rest are registered, but were never admitted.
            found, why, death = _timeline(draw, 1 + index, department, chronic, age)
            stays += found
            reasons += why
        sex = draw.weighted(["F", "M", "f", "m", "U", None], [46, 44, 3, 3, 2, 2])
        if department == "OBST":
            sex = "F" if draw.chance(0.9) else "f"
        groups = ["O+", "A+", "B+", "AB+", "O-", "A-", None]
        blood = draw.weighted(groups, [34, 30, 11, 4, 7, 6, 8])
        payer = draw.weighted(
            ["HLX", "NBR", "UNI", "GOV", "SOL", None], [20, 18, 14, 60 if age > 64 else 14, 9, 6]
        )
        city = None if draw.chance(0.02) else draw.weighted(CITIES, CITY_WEIGHTS)
        person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES), sex, born.strftime("%Y-%m-%d"))
        mrn = f"H{20_000 + 31 * index:07d}"
        patients.append((1 + index, mrn, *person, blood, city, payer, death))
    return patients, stays, reasons


def _measured(draw: Draw, test: Row, codes: list[str]) -> float:
    code, _, _, low, high, spread = test
    value: float = (low + high) / 2 + spread * draw.bell()
    if code == "GLU" and any(known in DIABETES for known in codes):
        value += 35 + 95 * draw.unit() + (150 * draw.unit() if codes[0] in DIABETES else 0)
    if code == "CREA" and ("N18.3" in codes or "N17.9" in codes):
        value += 0.4 + 1.4 * draw.unit()
    if code == "K" and "E87.6" in codes:
        value -= 1.1
    if code == "HGB" and ("D64.9" in codes or "K92.2" in codes):
        value -= 3.6
    if code == "WBC" and "J18.9" in codes:
        value += 6.5
    return max(value, float(low) * 0.4)


def _labs(draw: Draw, admissions: Rows, codes_of: dict[int, list[str]]) -> Rows:
    """Glucose comes in two units, from two analysers; spoilt samples have a text, no number."""
    drawn: Rows = []
    for stay in admissions:
        begin = datetime.fromisoformat(stay[4])
        end = datetime.fromisoformat(stay[5]) if stay[5] else LAST
        hours = int((end - begin).total_seconds() // 3600)
        for _ in range(draw.between(2, 6)):
            test = draw.weighted(TESTS, [26, 18, 18, 12, 15, 11, 0])
            when = begin + timedelta(hours=draw.below(hours), minutes=draw.below(60))
            if when > end:
                when = begin
            value: float | None = _measured(draw, test, codes_of[stay[0]])
            unit, text = test[2], None
            if draw.chance(0.04):
                value, text = None, draw.pick(["hemolyzed", "Hemolyzed", "clotted", "QNS"])
            elif test[0] == "GLU" and draw.chance(0.3):
                value, unit = round((value or 0) / 18, 1), "mmol/L"
            elif value is not None:
                digits = {"GLU": 0, "CREA": 2, "NA": 0}.get(test[0], 1)
                value = round(value, digits)
            drawn.append((when.isoformat(" ", "minutes"), stay[0], test[0], value, text, unit))
    drawn.sort(key=lambda row: row[:3])
    return [(30_001 + i, row[1], row[2], row[0], *row[3:]) for i, row in enumerate(drawn)]


def _prescriptions(draw: Draw, admissions: Rows, codes_of: dict[int, list[str]]) -> Rows:
    rows: Rows = []
    for stay in admissions:
        start = datetime.fromisoformat(stay[4][:10])
        last = stay[5][:10] if stay[5] else None
        for drug, dose, unit, route, freq, uses in DRUGS:
            fits = any(code in uses for code in codes_of[stay[0]])
            if not (fits and draw.chance(0.8)) and not (not uses and draw.chance(0.3)):
                continue
            begin = start
            if draw.chance(0.25) and last is not None and last > stay[4][:10]:
                begin = start + timedelta(days=1)
            many = draw.weighted([1, 2, 0.5], [70, 20, 10]) if unit != "IU" else draw.pick([1, 2])
            given = (drug, dose * many, unit, route, freq, begin.strftime("%Y-%m-%d"), last)
            rows.append((50_001 + len(rows), stay[0], *given))
    return rows


def _claims(draw: Draw, admissions: Rows, payers: dict[int, str | None]) -> Rows:
    """Filed some days after discharge; until May 2023 the date was typed as MM/DD/YYYY."""
    rows: Rows = []
    for stay in admissions:
        if stay[5] is None or draw.chance(0.02):
            continue
        end = datetime.fromisoformat(stay[5])
        nights = max(1, (end.date() - datetime.fromisoformat(stay[4]).date()).days)
        info = next(row for row in DEPARTMENTS if row[0] == stay[2])
        billed = round(nights * info[5] * (0.9 + 0.35 * draw.unit()) + 310 * (stay[8] or 0), 2)
        filed = end + timedelta(days=draw.between(3, 28))
        if filed > LAST:
            continue
        payer = payers[stay[1]]
        status = "S" if payer is None else draw.weighted(["P", "D", "O"], [78, 9, 13])
        if status == "O" and filed < datetime(2024, 1, 1):
            status = "P"
        paid = None
        if status == "P":
            share = 0.62 if payer == "GOV" else 0.8
            paid = round(billed * (share + 0.04 * draw.bell()), 2)
        elif status == "D":
            paid = 0.0
        text = filed.strftime("%m/%d/%Y" if filed < datetime(2023, 6, 1) else "%Y-%m-%d")
        rows.append((70_001 + len(rows), stay[0], payer, text, billed, paid, status))
    return rows


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yield (table, rows) in an order that respects the foreign keys."""
    physicians = _physicians(draw)
    patients, stays, reasons = _patients(draw)
    order = sorted(range(len(stays)), key=lambda i: (stays[i][2], stays[i][0]))
    admissions: Rows = []
    diagnoses: Rows = []
    codes_of: dict[int, list[str]] = {}
    for adm_id, index in enumerate(order, 10_001):
        pat_id, department, begin, end, *rest = stays[index]
        when = (begin.isoformat(" ", "minutes"), end.isoformat(" ", "minutes") if end else None)
        here = [p for p in physicians if p[3] == department and (p[7] or "9") > (when[1] or "3")]
        team = [p[0] for p in here if p[4] != "RE"]
        admissions.append((adm_id, pat_id, department, draw.pick(team), *when, *rest))
        codes_of[adm_id] = [code for code, _ in reasons[index]]
        for number, (code, present) in enumerate(reasons[index], 1):
            diagnoses.append((adm_id, number, code, present))
    yield "departments", [row[:4] for row in DEPARTMENTS]
    yield "physicians", physicians
    yield "insurers", INSURERS
    yield "patients", patients
    yield "admissions", admissions
    yield "icd", [row[:4] for row in ICD]
    yield "diagnoses", diagnoses
    yield "lab_tests", [row[:5] for row in TESTS]
    yield "labs", _labs(draw, admissions, codes_of)
    yield "prescriptions", _prescriptions(draw, admissions, codes_of)
    yield "claims", _claims(draw, admissions, {row[0]: row[8] for row in patients})
