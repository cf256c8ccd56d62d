"""The questionnaire: what is not answered is not stated, and wrong answers are refused."""

import pytest

import shoal
from shoal.evidence import Questionnaire

SECRET = "QXZW"


def test_nothing_is_guessed():
    answers = Questionnaire().to_dict()
    assert {str(answer).strip("[']") for answer in answers.values()} == {"not stated"}


def test_answers_are_read_from_yaml(tmp_path):
    (tmp_path / "q.yaml").write_text(
        "recipient: a university\ncontrols: [contract, no download]\nadversaries: neighbours\n"
        "review_date: 2027-01-31\nmaximum_risk: 0.09\npopulation: 5000\npurpose:\n"
        "columns: {no: asked on the form}\n"
    )
    found = Questionnaire.read(tmp_path / "q.yaml")
    assert (found.recipient, found.purpose) == ("a university", "not stated")
    assert found.controls == ("contract", "no download")
    assert found.adversaries == ("neighbours",)
    assert (found.review_date, found.maximum_risk, found.population) == ("2027-01-31", 0.09, 5000)
    assert found.columns == {"no": "asked on the form"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"recipiant: {SECRET}", "no question 'recipiant' (did you mean 'recipient'?)"),
        (f"- {SECRET}", "needs a mapping"),
        (f"purpose: {{{SECRET}: 1}}", "purpose must be a text"),
        (f"controls: {{{SECRET}: 1}}", "controls must be a text or a list"),
        (f"population: {SECRET}", "population must be a number"),
        (f"columns: {SECRET}", "columns must map"),
        ("maximum_risk: 1.5", "maximum_risk must be more than 0 and at most 1"),
        ("population: 0", "population must be a whole number, 1 or more"),
        (f"purpose: [{SECRET}", "is not valid YAML"),
    ],
)
def test_a_wrong_answer_is_refused_without_quoting_it(tmp_path, text, message):
    (tmp_path / "q.yaml").write_text(text)
    with pytest.raises(shoal.InputError) as caught:
        Questionnaire.read(tmp_path / "q.yaml")
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_an_empty_file_answers_nothing():
    assert Questionnaire.of(None) == Questionnaire()
