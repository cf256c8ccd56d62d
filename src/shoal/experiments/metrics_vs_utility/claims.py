"""What the metrics study was found to say, claim by claim."""

from __future__ import annotations

from shoal.experiments.claims import StudyClaim
from shoal.experiments.metrics_vs_utility import answers, rate_answers

CLAIMS = (
    StudyClaim("4.1",
          "Lines of Hellinger, information loss and squared distance cross: no two tables "
          "agree", answers.crossing),
    StudyClaim("4.3", "Both Datafly overlap in every metric, Mondrian stands apart", answers.apart),
    StudyClaim("4.5", "Mondrian's releases are of more use than Datafly's", answers.mondrian_leads),
    StudyClaim("4.5", "Shuffled trees cost no utility", answers.shuffling_costs_nothing),
    StudyClaim("4.6", "Its lines agree between algorithms",
          answers.between_algorithms("granularity", agree=True)),
    StudyClaim("4.7", "Its lines do not agree",
          answers.between_algorithms("hellinger", agree=False)),
    StudyClaim("4.8", "Class size, granularity and discernibility weigh most", answers.largest),
    StudyClaim("4.8", "Hellinger, bivariate correlation and squared distance trail",
          answers.trailing),
    StudyClaim("4.9", "Most predictions lie along the line of equality", answers.predicts),
    StudyClaim("Table 4.1",
          "Apart from heart, a metric is right on .55 to .72 of pairs (give or take "
          ".05)", rate_answers.modest),
    StudyClaim("Table 4.1", "Every metric is at its best on heart", rate_answers.heart_stands_out),
    StudyClaim("Table 4.1", "Rate by rate, the published table", rate_answers.near_published),
    StudyClaim("Table 4.1", "Ours: chance is right half of the time, utility itself always",
          rate_answers.references),
    StudyClaim("Table 4.2", "It is right more often than the mean metric",
          rate_answers.better_than_single),
    StudyClaim("Table 4.2", "It gains less than .10 on the best single metric",
          rate_answers.no_leap),
    StudyClaim("Table 4.3",
          "The two Datafly exchange Meta-Metrics better than either with Mondrian",
          rate_answers.datafly_exchange),
    StudyClaim("Table 4.3", "None does better than .823 on another algorithm",
          rate_answers.transfer_limit("algorithms", 0.823)),
    StudyClaim("Table 4.4", "None does better than .781 on another table",
          rate_answers.transfer_limit("tables", 0.781)),
    StudyClaim("Table 4.5", "None does better than .727 on another utility",
          rate_answers.transfer_limit("utilities", 0.727)),
)  # fmt: skip
