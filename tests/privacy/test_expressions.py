import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.errors import InputError
from shoal.privacy import (
    MODELS,
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    EntropyLDiversity,
    FreeformAnonymity,
    KAnonymity,
    KConcealment,
    KKAnonymity,
    KOneAnonymity,
    LDiversity,
    Model,
    OneKAnonymity,
    RecursiveLDiversity,
    TCloseness,
    parse,
)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("k-anonymity(5)", KAnonymity(5)),
        ("  k-anonymity ( k = 5 )  ", KAnonymity(5)),
        ("l-diversity(3, disease)", LDiversity(3, "disease")),
        ("freeform-anonymity(4)", FreeformAnonymity(4)),
        ("k-concealment(4)", KConcealment(4)),
        ("k-k-anonymity(4)", KKAnonymity(4)),
        ("one-k-anonymity(4)", OneKAnonymity(4)),
        ("k-one-anonymity(4)", KOneAnonymity(4)),
        ("entropy-l-diversity(2.5, disease)", EntropyLDiversity(2.5, "disease")),
        ("recursive-l-diversity(2, 3, disease)", RecursiveLDiversity(2, 3, "disease")),
        (
            "t-closeness(t=0.2, column=disease, distance=ordered)",
            TCloseness(0.2, "disease", "ordered"),
        ),
        ("t-closeness(column=disease, t=.2)", TCloseness(0.2, "disease")),
        ("t-closeness(0.2, disease, distance=equal)", TCloseness(0.2, "disease", "equal")),
        ("alpha-k-anonymity(0.5, 4, disease)", AlphaKAnonymity(0.5, 4, "disease")),
        ("alpha-k-anonymity(0.5, 4, disease, 7)", AlphaKAnonymity(0.5, 4, "disease", "7")),
        ("delta-disclosure(1e-1, disease)", DeltaDisclosure(0.1, "disease")),
        ("beta-likeness(1, disease)", BetaLikeness(1, "disease")),
        ("beta-likeness(1, disease, false)", BetaLikeness(1, "disease", enhanced=False)),
        ("beta-likeness(1, disease, enhanced=True)", BetaLikeness(1, "disease")),
        ("k-anonymity(5)&l-diversity(3, x)", KAnonymity(5) & LDiversity(3, "x")),
    ],
)
def test_reads_options_by_position_and_by_name(text, model):
    assert parse(text) == model


@pytest.mark.parametrize(
    ("written", "column"),
    [
        ("blood pressure", "blood pressure"),
        ("salary (EUR, gross)", "salary (EUR, gross)"),
        ("12", "12"),
        ("R&D", "R&D"),
        ('"a, b"', "a, b"),
        ("'a) & k-anonymity(2'", "a) & k-anonymity(2"),
        ('"x=y"', "x=y"),
        (r'"say \"so\" \\"', 'say "so" \\'),
        ("'  padded '", "  padded "),
        ("größe", "größe"),
    ],
)
def test_reads_odd_column_names(written, column):
    assert parse(f"l-diversity(3, {written})") == LDiversity(3, column)
    assert parse(f"l-diversity(column={written}, l=3) & k-anonymity(2)").parts[0] == (
        LDiversity(3, column)
    )


def test_a_model_named_twice_counts_once():
    assert parse("k-anonymity(5) & k-anonymity(k=5)") == KAnonymity(5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one of k-anonymity, km-anonymity, l-diversity"),
        ("k-anonymity(5) &", "expected one of k-anonymity.* at character 17"),
        ("p-sensitivity(5)", "no privacy model 'p-sensitivity'; there are k-anonymity, km-"),
        ("k-anonymity", r"expected '\(', as in k-anonymity\(k\)"),
        ("k-anonymity(5", r"expected ',' or '\)' at character 14"),
        ("k-anonymity(5) l-diversity(3, x)", "expected '&' or the end at character 16"),
        ("k-anonymity()", r"k-anonymity: option 'k' is required; write k-anonymity\(k\)"),
        ("l-diversity(3)", r"option 'column' is required; write l-diversity\(l, column, \["),
        ("l-diversity(3, x, true, y)", r"too many .*; write l-diversity\(l, column, \["),
        ("l-diversity(l=3, x)", "without a name"),
        ("l-diversity(3, kolumn=x)", "no option 'kolumn'; write l-diversity"),
        ("k-anonymity(5, k=6)", "option 'k' is given twice"),
        ("k-anonymity(five)", "k-anonymity: k must be a whole number, 2 or more, not 'five'"),
        ("k-anonymity(2.5)", "k must be a whole number, 2 or more, not 2.5"),
        ("t-closeness(2, x)", "t-closeness: t must be 0 or more and at most 1, not 2"),
        ("beta-likeness(1, x, maybe)", "enhanced must be true or false, not 'maybe'"),
        ("t-closeness(0.1, x, [y)", "distance must be one of equal"),
        ('l-diversity(3, "x)', "expected a value at character 16"),
        ("l-diversity(3, )", "expected a value at character 16"),
        ("l-diversity(3, x))", "expected '&' or the end"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_is_allowed(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)


def test_the_registry_knows_each_model_by_its_name():
    assert all(issubclass(model, Model) and model.name == name for name, model in MODELS.items())
    assert len(MODELS) == 18


names = st.from_regex(r"\A[\w.%-]+([ '&=][\w.-]+)*( \([\w ,=]+\))?\Z")
shares = st.floats(0.001, 1)
positive = st.floats(0, 1e6, exclude_min=True)
single = st.one_of(
    st.builds(KAnonymity, st.integers(2)),
    st.builds(FreeformAnonymity, st.integers(2)),
    st.builds(KConcealment, st.integers(2)),
    st.builds(LDiversity, st.integers(2), names),
    st.builds(EntropyLDiversity, st.floats(1, exclude_min=True), names),
    st.builds(RecursiveLDiversity, positive, st.integers(2), names),
    st.builds(TCloseness, shares, names, st.sampled_from([None, "equal", "ordered"])),
    st.builds(AlphaKAnonymity, shares, st.integers(1), names, st.none() | names),
    st.builds(DeltaDisclosure, positive, names),
    st.builds(BetaLikeness, positive, names, st.booleans()),
)


@examples(50)
@given(models=st.lists(single, min_size=1, max_size=3, unique=True))
def test_what_a_model_prints_reads_back_as_the_model(models):
    joined = models[0]
    for model in models[1:]:
        joined &= model
    assert parse(str(joined)) == joined
