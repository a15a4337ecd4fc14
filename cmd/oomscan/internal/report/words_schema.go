package report

// This file has the descriptions in the JSON Schemas.

// contractTitles say what the documents are, by the words of the schema command.
var contractTitles = map[string]string{
	"report": "The answer of oomscan --format json: one job, or several",
	"ndjson": "A line of oomscan --format ndjson",
	"guide":  "The answer of oomscan guide --format json",
	"plan":   "The answer of oomscan plan --format json",
}

// described says what a key means where its name does not.
var described = map[string]string{
	"Report.inputs":              "what was read; error is null when it was read to its end",
	"Report.ended_by":            "what else may have ended the job, where there are no incidents",
	"Report.partial":             "the user did not wait for the end: what was read by then is in the report",
	"Run.framework":              "the outermost framework, whose guide the user follows; an engine inside it is the engine",
	"Run.application":            "whose settings the user changes, where that is not the framework",
	"Run.config":                 "settings by the keys that the log writes",
	"Incident.verdict":           "memory: memory ran out; suspect: a failure that memory often causes, without proof; other: neither",
	"Incident.survived":          "the program caught the failure and went on",
	"Incident.phase_why":         "why this phase was chosen",
	"Incident.root":              "the first failure; what followed is in consequences",
	"Incident.repeats":           "how often the same failure was printed again",
	"Incident.shortfall_bytes":   "by how much the request did not fit",
	"Incident.ledger":            "where the memory was when the request failed",
	"Incident.findings":          "sentences with figures that were computed from the log",
	"Incident.victims":           "processes that were killed for their memory",
	"Incident.cause":             "why memory ran out, null when nothing supports a cause",
	"Incident.rivals":            "other causes, with what speaks against them",
	"Incident.proposals":         "what to change, best first; alternatives to each other",
	"Incident.remedies":          "the checklist in its guide's order",
	"Incident.start_with":        "ids of the remedies that the proposals make, best first",
	"Incident.budget":            "what each part of the run should take in this phase",
	"Incident.unexplained_bytes": "what was measured and no part of the budget explains",
	"Root.line":                  "counted from 1 by line feeds",
	"Root.traceback":             "outermost frame first",
	"Proposal.fits":              "whether the failed step would fit now, null when that cannot be computed",
	"Proposal.fits_worst_case":   "the same at the longest samples that the settings allow",
	"Proposal.frees_bytes":       "what it frees in the phase that failed",
	"Proposal.margin_bytes":      "what is left over then",
	"Remedy.applies":             "false: the run contradicts it, see applies_why; null: the log cannot tell",
	"Change.to":                  "null where only the direction is known",
	"Change.direction":           "up, down or set",
	"Change.syntax":              "hydra, yaml, flag, sbatch, env, python or shell",
	"ndjsonIncident.update":      "this line takes the place of an earlier one with its id",
	"ndjsonIncident.job":         "the job's name among several, else the id that the log tells",
	"jobDocument.together_by":    "what keeps the logs of this job together",
	"jobsDocument.unattributed":  "logs beside several jobs, such as a node's own",
	"PlanSum.complete":           "no large part is missing from the sum",
	"GuideItem.addition":         "not in the document: from a later version or the program's source",
	"GuideParameter.value":       "the guide's own value",
}
