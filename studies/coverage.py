"""Every algorithm, table and figure of the five documents: repeated, tested, or left out."""

from __future__ import annotations

from dataclasses import dataclass

LIANG = "Liang, *Algorithms in privacy & security for data analytics and machine learning*, 2020"
SAMAVI = "Liang & Samavi, *Optimization-based k-anonymity algorithms*, 2020"
LI = (
    "Li, *Improving a de-identification algorithm that achieves both k-anonymity and differential "
    "privacy*, 2019"
)
SPOELBERCH = "de Spoelberch, *The limits of information loss metrics as measures for utility*, 2020"
MALIK = (
    "Malik, *Disclosure risk measurement of anonymized datasets after probabilistic attacks*, 2014"
)


@dataclass(frozen=True)
class Item:
    """An algorithm, table or figure, and where it is repeated.

    study, sections: the study, `name` or `name/data`, and its sections that repeat the item.
    tests: the file of the test that reproduces it exactly.
    reason: why neither exists.
    """

    document: str
    name: str
    about: str
    study: str = ""
    sections: tuple[str, ...] = ()
    tests: str = ""
    reason: str = ""


_NO_DATA = "describes the published census extract, which is not public"
_EXPLAINS = "an illustration without a measurement"
_PARTITION = "tests/methods/partition"
_MATCHINGS = "tests/risk/matchings"


def _grouping(document: str, names: dict[str, str]) -> list[Item]:
    """Return the figures of the grouping study, by section and name in a document."""
    about = {
        "3.2": "loss and time against the optimum",
        "3.3": "loss and time against other methods, 8 attributes with categories",
        "3.4": "loss of Greedy Search over other methods",
        "3.5": "loss and time against other methods, 4 attributes",
        "3.6": "growing tables",
        "3.7": "growing k",
        "3.8": "growing numbers of attributes",
        "A.1": "another table, FARS",
        "Table A.2": "sizes of sub-problems",
    }
    return [
        Item(document, name, about[section], "grouping", (section,))
        for section, name in names.items()
    ]


_THESIS = [
    Item(LIANG, "Figure 1.1", "adversarial examples of Carlini–Wagner", "robust/mnist", ("D",)),
    Item(LIANG, "Algorithm 1", "Split & Carry", tests=f"{_PARTITION}/test_split_carry.py"),
    Item(LIANG, "Algorithm 2", "Greedy Search", tests=f"{_PARTITION}/test_greedy.py"),
    Item(LIANG, "Optimal MILP", "the exact model", tests=f"{_PARTITION}/test_optimal.py"),
    Item(LIANG, "Initial solution", "consecutive groups", tests=f"{_PARTITION}/test_sorted.py"),
    Item(LIANG, "Table 3.1", "an anonymized health record", tests="tests/metrics/test_ncp.py"),
    Item(LIANG, "Table 3.2", "the FARS example", tests=f"{_PARTITION}/test_sorted.py"),
    Item(LIANG, "Figure 3.1", "a chain of sub-problems", reason=_EXPLAINS),
    Item(LIANG, "Tables 3.3 and 3.4", "worked example 1",
         tests=f"{_PARTITION}/test_split_carry.py"),
    Item(LIANG, "Table 3.5", "worked example 2", tests=f"{_PARTITION}/test_greedy.py"),
    Item(LIANG, "Table 3.6", "the attributes of CENSUS", reason=_NO_DATA),
    *_grouping(LIANG, {f"3.{n}": f"Figure 3.{n}" for n in range(2, 9)}),
    Item(LIANG, "Noisy Logit, Ensemble Voting", "the defence", "robust/mnist", ("A",)),
    Item(LIANG, "Equation 4.2.5", "the probability that a vote is right",
         reason="no probability: two networks that are right with 0.9 each give 1.71; "
         "[a test](../tests/studies/test_vote_success.py) has the exact one"),
    Item(LIANG, "Chapter 5", "networks of different architectures in one vote, left open there",
         tests="tests/robust/test_mixed.py"),
    Item(LIANG, "Superimposition", "sums of perturbations", "robust/mnist",
         ("Table 4.6", "Table 4.8")),
    Item(LIANG, "Table 4.1", "architectures", tests="tests/robust/test_networks.py"),
    Item(LIANG, "Table 4.2", "parameters of training", "robust/mnist", ("A",)),
    *(Item(LIANG, f"Figure 4.{n}", about, "robust/mnist", (f"4.{n}",))
      for n, about in ((1, "MNIST: networks changed"), (2, "MNIST: votes changed"),
                       (3, "MNIST: perturbation and accuracy"))),
    *(Item(LIANG, f"Figure 4.{n}", about, "robust/cifar10", (f"4.{n}",))
      for n, about in ((4, "CIFAR-10: networks changed"), (5, "CIFAR-10: votes changed"),
                       (6, "CIFAR-10: perturbation and accuracy"))),
    *(Item(LIANG, f"Table 4.{n}, {shown}", about, f"robust/{data}", (f"Table 4.{n}",))
      for n, about in ((3, "the vote on single-network examples"), (4, "its answers"),
                       (5, "one network on sums of two"), (6, "the vote on sums of two"),
                       (7, "one network on sums of three"), (8, "the vote on sums of three"))
      for data, shown in (("mnist", "MNIST"), ("cifar10", "CIFAR-10"))),
    Item(LIANG, "Figure 4.7", "networks on their own examples", "robust/mnist", ("4.7",)),
    Item(LIANG, "Table A.1", "weights on the FARS example", tests=f"{_PARTITION}/test_greedy.py"),
    *_grouping(LIANG, {"Table A.2": "Table A.2"}),
    Item(LIANG, "Tables A.3 and A.4", "variances of CENSUS", reason=_NO_DATA),
    *_grouping(LIANG, {"A.1": "Figure A.1"}),
    Item(LIANG, "Table B.1", "answers to sums, two pictures of MNIST", "robust/mnist",
         ("Table B.1",)),
    Item(LIANG, "Table B.2", "answers to sums, two pictures of CIFAR-10", "robust/cifar10",
         ("Table B.2",)),
    Item(LIANG, "Figures B.1 to B.4", "pictures of sums", "robust/mnist", ("D",)),
]  # fmt: skip
_JOURNAL = [
    Item(SAMAVI, "Algorithms 1 and 2", "Split & Carry, Greedy Search",
         tests=f"{_PARTITION}/test_split_carry.py"),
    Item(SAMAVI, "Table 1", "an anonymized health record", tests="tests/metrics/test_ncp.py"),
    Item(SAMAVI, "Figure 1", "a chain of sub-problems", reason=_EXPLAINS),
    Item(SAMAVI, "Table 2", "the FARS example", tests=f"{_PARTITION}/test_sorted.py"),
    Item(SAMAVI, "Table 3", "the attributes of CENSUS", reason=_NO_DATA),
    *_grouping(SAMAVI, {f"3.{n}": f"Figure {n}" for n in range(2, 9)}),
    Item(SAMAVI, "Table 4", "weights on the FARS example", tests=f"{_PARTITION}/test_greedy.py"),
    Item(SAMAVI, "Tables 5 and 6", "worked example 1", tests=f"{_PARTITION}/test_split_carry.py"),
    Item(SAMAVI, "Table 7", "worked example 2", tests=f"{_PARTITION}/test_greedy.py"),
    *_grouping(SAMAVI, {"Table A.2": "Table 8"}),
    Item(SAMAVI, "Tables 9 and 10", "variances of CENSUS", reason=_NO_DATA),
    *_grouping(SAMAVI, {"A.1": "Figures 9 and 10"}),
    Item(SAMAVI, "Tables 11 and 12", "memory and CPUs", reason="describes the authors' machines"),
]  # fmt: skip
_LATTICE = [
    Item(LI, "Table 1.1", "a small k-anonymous table", reason=_EXPLAINS),
    Item(LI, "Figure 2.1", "the density of Laplace noise", reason=_EXPLAINS),
    Item(LI, "Figures 3.1 and 3.2", "hierarchies and a lattice", reason=_EXPLAINS),
    Item(LI, "Equations 3.5 and 3.6", "the entropy of a release",
         tests="tests/metrics/test_published_entropy.py"),
    Item(LI, "Algorithm 1", "ε-safe LA", "lattice", ("Table 5.6", "Table 5.7")),
    Item(LI, "OLA", "the optimal lattice search", "lattice", ("Table 5.6", "Table 5.7")),
    Item(LI, "Figures 3.3 and 3.4", "interpolation by levels and by dictionary", "lattice",
         ("5.3",)),
    Item(LI, "Figure 4.1", "one-hot encoding", reason=_EXPLAINS),
    Item(LI, "Algorithm 2", "functional mechanism",
         tests="tests/dp/test_functional_logistic_regression.py"),
    Item(LI, "Table 5.1", "δ by k and β, adult", "lattice", ("Table 5.1",)),
    Item(LI, "Figure 5.1", "the probability of good nodes", "lattice", ("5.1",)),
    Item(LI, "Table 5.2", "accuracy on raw and private rows", "lattice", ("Table 5.2",)),
    Item(LI, "Figures 5.2 to 5.4", "guessed scores", "lattice", ("5.3",)),
    Item(LI, "Table 5.3", "time with and without guesses", "lattice", ("5.3",)),
    Item(LI, "Table 5.4", "accuracy with guesses", "lattice", ("Table 5.6",)),
    Item(LI, "Table 5.5", "δ by k and β, IPUMS", "lattice", ("Table 5.5",)),
    Item(LI, "Figure 5.5", "good nodes of IPUMS, on census-income here", "lattice", ("5.5",)),
    Item(LI, "Table 5.6", "accuracy of all algorithms", "lattice", ("Table 5.6",)),
    Item(LI, "Table 5.7", "columns and time", "lattice", ("Table 5.7",)),
]  # fmt: skip
_METRICS = [
    Item(SPOELBERCH, "Figures 2.1 to 2.4", "examples of generalization",
         tests="tests/methods/test_published_figures.py"),
    Item(SPOELBERCH, "Algorithm 1", "Datafly", tests="tests/methods/lattice/test_methods.py"),
    Item(SPOELBERCH, "Figure 2.5", "minimal generalizations", reason=_EXPLAINS),
    Item(SPOELBERCH, "Algorithm 2", "MinGen", tests="tests/methods/lattice/test_methods.py"),
    Item(SPOELBERCH, "Algorithm 3", "Mondrian", tests=f"{_PARTITION}/test_mondrian.py"),
    Item(SPOELBERCH, "Figure 2.6", "steps of Mondrian", reason=_EXPLAINS),
    Item(SPOELBERCH, "Section 2.2", "twelve metrics",
         tests="tests/metrics/test_worked_examples.py"),
    Item(SPOELBERCH, "Figures 3.1 to 3.3, 3.5", "workflow, trees, encoding", reason=_EXPLAINS),
    Item(SPOELBERCH, "Figure 3.4", "accuracy by k of one classifier", "metrics", ("3.4",)),
    Item(SPOELBERCH, "Figures 4.1 and 4.2", "utility over metrics", "metrics", ("4.1",)),
    Item(SPOELBERCH, "Figures 4.3 and 4.4", "histograms of metrics", "metrics", ("4.3",)),
    *(Item(SPOELBERCH, f"Figure 4.{n}", about, "metrics", (f"4.{n}",))
      for n, about in ((5, "histograms of utility"), (6, "utility over granularity"),
                       (7, "utility over Hellinger"), (8, "effect sizes"),
                       (9, "predictions of the Meta-Metric"))),
    *(Item(SPOELBERCH, f"Table 4.{n}", about, "metrics", (f"Table 4.{n}",))
      for n, about in ((1, "rates of single metrics"), (2, "rates of the Meta-Metric"),
                       (3, "transfer to another algorithm"), (4, "transfer to another table"),
                       (5, "transfer to another utility"))),
    Item(SPOELBERCH, "Figures A.1 to A.11", "utility over each metric, by algorithm", "metrics",
         ("A.1",)),
]  # fmt: skip
_RISK = [
    Item(MALIK, "Figure 2.1", "complete anonymity and none", reason=_EXPLAINS),
    Item(MALIK, "Figures 2.2 and 2.3", "a release and its 18 matchings",
         tests=f"{_MATCHINGS}/test_published_figures.py"),
    Item(MALIK, "Figure 2.4", "permanents and cracks of all 5 × 5 graphs", "risk", ("2.4",)),
    Item(MALIK, "Figure 3.1", "a network of data and its matrix",
         tests="tests/risk/attacks/test_network.py"),
    Item(MALIK, "Figure 3.2", "functions and bijections", reason=_EXPLAINS),
    Item(MALIK, "Figure 3.3", "a network whose matrix is flat",
         tests="tests/risk/attacks/test_network.py"),
    Item(MALIK, "Figures 3.4 and 3.5", "matrices, flat and not",
         tests=f"{_MATCHINGS}/test_published_figures.py"),
    Item(MALIK, "Theorem 4.1.1", "Ψ of a flat matrix is ε",
         tests=f"{_MATCHINGS}/test_published_figures.py"),
    Item(MALIK, "Metric Ψ", "the unified metric", tests=f"{_MATCHINGS}/test_psi.py"),
    Item(MALIK, "Heuristic H", "the quick estimate", "risk", ("4.1", "A")),
    Item(MALIK, "Figure 4.1", "Ψ and H of Q for all mappings", "risk", ("4.1",)),
    Item(MALIK, "Figure 4.2", "NMAPE of random matrices", "risk", ("4.2",)),
    Item(MALIK, "Chapter 5", "Ψ and H of sets, and of any distribution, left open there",
         tests=f"{_MATCHINGS}/test_set_psi.py"),
]  # fmt: skip
ITEMS = (*_THESIS, *_JOURNAL, *_LATTICE, *_METRICS, *_RISK)
