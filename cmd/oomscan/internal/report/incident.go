package report

// writeIncident writes one incident: the answer first, then what it rests on, then the guide's checklist.
func writeIncident(p *page, r *Report, i int) {
	in := &r.Incidents[i]
	writeHeadline(p, r, in, i)
	if in.Verdict == "suspect" { // first whether it was memory at all, then why it may have run out
		writeConfirm(p, r, in)
		writeProposals(p, r, in, p.full)
		writeWhy(p, in)
	} else {
		writeWhy(p, in)
		writeProposals(p, r, in, p.full)
	}
	writeMemory(p, in)
	writeEvidence(p, r, in)
	if p.full {
		writeFindings(p, in)
		writeRivals(p, in)
		writeBudget(p, in)
		writeTrace(p, in)
		writeLog(p, in)
	}
	writeChecklist(p, in, p.full)
}

// writeShort writes an incident that stands behind another: what, why, and the first change.
func writeShort(p *page, r *Report, i int) {
	in := &r.Incidents[i]
	writeHeadline(p, r, in, i)
	writeWhy(p, in)
	if len(in.Proposals) > 0 {
		p.section(tryHeading(in))
		writeProposal(p, in, &in.Proposals[0], false)
	}
	p.section(wordEvidence, span{plain, "  "}, p.at(in.Root.File, in.Root.Line))
}
