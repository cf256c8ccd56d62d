"""What the metrics study was found to say, claim by claim."""

from __future__ import annotations

from studies.claims import Claim
from studies.metrics import answers, rate_answers

CLAIMS = (
    Claim("4.1", "Lines of Hellinger, information loss and squared distance cross: no two tables "
          "agree", answers.crossing),
    Claim("4.3", "Both Datafly overlap in every metric, Mondrian stands apart", answers.apart),
    Claim("4.5", "Mondrian's releases are of more use than Datafly's", answers.mondrian_leads),
    Claim("4.5", "Shuffled trees cost no utility", answers.shuffling_costs_nothing),
    Claim("4.6", "Its lines agree between algorithms",
          answers.between_algorithms("granularity", agree=True)),
    Claim("4.7", "Its lines do not agree", answers.between_algorithms("hellinger", agree=False)),
    Claim("4.8", "Class size, granularity and discernibility weigh most", answers.largest),
    Claim("4.8", "Hellinger, bivariate correlation and squared distance trail", answers.trailing),
    Claim("4.9", "Most predictions lie along the line of equality", answers.predicts),
    Claim("Table 4.1", "Apart from heart, a metric is right on .55 to .72 of pairs (give or take "
          ".05)", rate_answers.modest),
    Claim("Table 4.1", "Every metric is at its best on heart", rate_answers.heart_stands_out),
    Claim("Table 4.1", "Rate by rate, the published table", rate_answers.near_published),
    Claim("Table 4.1", "Ours: chance is right half of the time, utility itself always",
          rate_answers.references),
    Claim("Table 4.2", "It is right more often than the mean metric",
          rate_answers.better_than_single),
    Claim("Table 4.2", "It gains less than .10 on the best single metric", rate_answers.no_leap),
    Claim("Table 4.3", "The two Datafly exchange Meta-Metrics better than either with Mondrian",
          rate_answers.datafly_exchange),
    Claim("Table 4.3", "None does better than .823 on another algorithm",
          rate_answers.transfer_limit("algorithms", 0.823)),
    Claim("Table 4.4", "None does better than .781 on another table",
          rate_answers.transfer_limit("tables", 0.781)),
    Claim("Table 4.5", "None does better than .727 on another utility",
          rate_answers.transfer_limit("utilities", 0.727)),
)  # fmt: skip
