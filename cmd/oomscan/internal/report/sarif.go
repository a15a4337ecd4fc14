package report

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"oomscan/parser/secret"
)

// NewSARIF returns the reporter of SARIF 2.1.0, which code hosts and editors show: a result an incident, at the line of its
// root, with the evidence as related places. A rule is a kind.
func NewSARIF(o Output) Reporter { return &sarif{doc: newDocument(o.Writer)} }

type sarif struct{ doc, run *document }

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifResult struct {
	Rule         string            `json:"ruleId"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   sarifProperties   `json:"properties"`
}

// sarifProperties are the words that a viewer may filter by.
type sarifProperties struct {
	Job       *string `json:"job"`
	Verdict   string  `json:"verdict"`
	Phase     string  `json:"phase"`
	Framework string  `json:"framework"`
	Cause     *string `json:"cause"`
}

type sarifLocation struct {
	Place   sarifPlace `json:"physicalLocation"`
	Message *sarifText `json:"message,omitempty"`
}

type sarifPlace struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	Start int `json:"startLine"`
}

// Begin implements [Reporter].
func (s *sarif) Begin(a *Answer) error {
	s.doc.field("$schema", sarifSchema)
	s.doc.field("version", "2.1.0")
	s.doc.list("runs")
	s.run = s.doc.object()
	rules := []sarifRule{}
	for _, k := range Kinds() {
		rules = append(rules, sarifRule{k, sarifText{sentence(named(consequenceWords, k))}})
	}
	s.run.field("tool", sarifTool{sarifDriver{"oomscan", a.Version, rules}})
	s.run.list("results")
	return s.run.err
}

// Job implements [Reporter].
func (s *sarif) Job(j *Job) error {
	for i := range j.Report.Incidents {
		s.run.element(sarifResultOf(j, &j.Report.Incidents[i]))
	}
	return s.run.err
}

// End implements [Reporter].
func (s *sarif) End() error {
	s.run.endList()
	s.doc.err = s.run.end()
	s.doc.endList()
	return s.doc.flush()
}

func sarifResultOf(j *Job, in *Incident) sarifResult {
	x := sarifResult{
		Rule: in.Kind, Level: "warning", Message: sarifText{strings.Join(gist(in), "\n")}, Locations: []sarifLocation{sarifAt(in.Root.File, in.Root.Line, "")},
		Fingerprints: map[string]string{"oomscan/v1": in.ID},
		Properties:   sarifProperties{Verdict: in.Verdict, Phase: in.Phase, Framework: j.Report.Run.Framework},
	}
	switch {
	case in.Verdict == "memory" && !in.Survived:
		x.Level = "error"
	case in.Verdict == "other":
		x.Level = "note"
	}
	if j.Name != "" {
		x.Properties.Job = str(secret.Text(j.Name))
	}
	if in.Cause != nil {
		x.Properties.Cause = &in.Cause.ID
	}
	seen := map[string]bool{} // SARIF wants locations that differ
	for _, e := range in.Evidence {
		at := sarifAt(e.File, e.Line, e.Why)
		if key := fmt.Sprint(at.Place.Artifact.URI, max(0, e.Line), e.Why); !seen[key] {
			x.Related = append(x.Related, at)
			seen[key] = true
		}
	}
	return x
}

func sarifAt(file string, line int, why string) sarifLocation {
	var x sarifLocation
	x.Place.Artifact.URI = (&url.URL{Path: filepath.ToSlash(file)}).String()
	if line > 0 {
		x.Place.Region = &sarifRegion{line}
	}
	if why != "" {
		x.Message = &sarifText{why}
	}
	return x
}
