"""The claims of the metrics study, by figure and table."""

from __future__ import annotations

from studies.claims import Claim
from studies.metrics import accuracy_by_k, answers, mondrians, rate_answers

CLAIMS = (
    Claim(
        "3.4",
        "Accuracy falls from k = 2 to k = 20",
        accuracy_by_k.falls,
    ),
    Claim(
        "3.4",
        f"Beyond k = 20 accuracy is noise (the same at k = 100, within {accuracy_by_k.NOISE})",
        accuracy_by_k.flat,
    ),
    Claim(
        "3.4",
        "Beyond k = 20 little utility is left (at most "
        f"{accuracy_by_k.LITTLE} above the most frequent class)",
        accuracy_by_k.little_left,
    ),
    Claim(
        "4.1",
        "The lines of Hellinger, information loss and squared distance cross between "
        "tables (in most panels)",
        answers.crossing,
    ),
    Claim("4.3", "The two Datafly overlap in every metric, Mondrian differs", answers.apart),
    Claim("4.5", "Mondrian's releases are more useful than Datafly's", answers.mondrian_leads),
    Claim("4.5", "Shuffled trees cost no utility", answers.shuffling_costs_nothing),
    Claim(
        "4.6",
        "The lines of granularity agree between algorithms",
        answers.between_algorithms("granularity", agree=True),
    ),
    Claim(
        "4.7",
        "The lines of Hellinger do not agree between algorithms",
        answers.between_algorithms("hellinger", agree=False),
    ),
    Claim(
        "A.1",
        "The lines of single tables are not always consistent between algorithms (they go both "
        f"ways in more than {100 * answers.AGREEING:.0f} % of panels)",
        answers.inconsistent,
    ),
    Claim(
        "4.8",
        "Class size, granularity and discernibility have the largest weights",
        answers.largest,
    ),
    Claim(
        "4.8",
        "Hellinger, bivariate correlation and squared distance are among the five smallest",
        answers.trailing,
    ),
    Claim(
        "4.9",
        "Predictions lie along the line of equality (median slope .7 to 1.3)",
        answers.predicts,
    ),
    Claim(
        "Table 4.1",
        "Apart from heart, a metric is right on .55 to .72 of pairs (± .05)",
        rate_answers.modest,
    ),
    Claim("Table 4.1", "Every metric is right most often on heart", rate_answers.heart_stands_out),
    Claim(
        "Table 4.1",
        "The rates are those of the published table (within .05 on average)",
        rate_answers.near_published,
    ),
    Claim(
        "Table 4.1",
        "A random score is right half of the time, utility itself always (ours)",
        rate_answers.references,
    ),
    Claim(
        "Table 4.2",
        "The Meta-Metric is right more often than the mean metric",
        rate_answers.better_than_single,
    ),
    Claim(
        "Table 4.2",
        "The Meta-Metric gains less than .10 on the mean metric",
        rate_answers.no_leap,
    ),
    Claim(
        "Table 4.2",
        "The Meta-Metric is right more often than the best single metric of each table (left open "
        "there)",
        rate_answers.better_than_best,
    ),
    Claim(
        "Table 4.3",
        "Meta-Metrics transfer better between the two Datafly than to and from Mondrian",
        rate_answers.datafly_exchange,
    ),
    Claim(
        "Table 4.3",
        "None does better than .823 on another algorithm",
        rate_answers.transfer_limit("algorithms", 0.823),
    ),
    Claim(
        "Table 4.4",
        "None does better than .781 on another table",
        rate_answers.transfer_limit("tables", 0.781),
    ),
    Claim(
        "Table 4.5",
        "None does better than .727 on another utility",
        rate_answers.transfer_limit("utilities", 0.727),
    ),
    Claim(
        "B",
        "Mondrian with Shoal's cuts is more useful than as published (ours)",
        mondrians.best_gains,
    ),
)
