package report

import (
	"strings"

	"oomscan/remedies"
)

// This file has the words of the guides' pages and of memory budgets.

const (
	wordGuide        = "guide"
	wordOfficialList = "checklist based on official documentation"
	wordGuides       = "Guides"
	wordShortLists   = "Short checklists, based on official documentation"
	wordWhichOne     = "Which one is it?"
	wordLists        = "Lists"
	wordNoList       = "The guide has no list for that."
	wordParameters   = "Parameters"
	wordDebugging    = "Debugging"
	wordKnowing      = "Worth knowing"
	wordTemplates    = "Templates"
	wordMessages     = "Messages"
	wordInShort      = "In short"
	wordCompared     = "Before and after"
	wordAllPhases    = "for all phases"
	wordLastResort   = "last resort"
	wordNotInGuide   = "not in the guide"
	wordNothingFound = "no guide mentions it"

	labelSymptom  = "symptom"
	labelUsual    = "usual cause"
	labelFirst    = "first"
	labelNotHere  = "does not apply:"
	labelNeeds    = "needs"
	labelSpelled  = "also written"
	labelCareful  = "careful:"
	labelCorrect  = "corrected:"
	labelAtLeast  = "at least"
	labelAtMost   = "at most"
	labelOneGuide = "one of them:"
	labelSearch   = "find a parameter in all of them:"
	labelWhole    = "the whole guide, with its debugging steps, templates and tables:"

	exampleGuide  = "oomscan guide verl --phase backward"
	exampleSearch = "oomscan guide --search mem_fraction"
	commandGuide  = "oomscan guide "
)

// correctedText says where a document is wrong.
func correctedText(c *remedies.Correction) string {
	text := "the document says " + strings.TrimSuffix(c.Says, ".") + "; in fact " + strings.TrimSuffix(c.Is, ".")
	if c.Versions != "" {
		text += " (" + c.Versions + ")"
	}
	return text + ". [" + c.ID + "]"
}

const (
	wordPlan        = "MEMORY BUDGET"
	wordEstimated   = "Estimated from the settings, with the longest samples that they allow."
	wordNoBudget    = "No budget: nothing tells how this run trains or serves. Name the program with --framework, the number of GPUs with --set total_gpus=N, and the model with --model config.json."
	labelChanged    = "After: "
	labelAfterward  = "  after"
	wordEachGPU     = "Each GPU"
	wordEachNode    = "Each node, host memory"
	wordSizeUnknown = "size unknown"
	wordAfterChange = ", after the change"
	wordFullest     = "Fullest phase of a GPU: "
	wordNotCounted  = "Not counted"
	wordToCount     = "  pass these to include it"
	modelSizes      = "sizes of the model"
	fitsYes         = "yes"
	fitsNo          = "no"
	fitsLikely      = "likely"
	fitsUnlikely    = "unlikely"
	fitsUnsure      = "unsure"
	modelFlag       = "--model config.json, or "
)
