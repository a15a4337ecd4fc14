package report

import (
	"cmp"
	"reflect"

	"oomscan/remedies"
)

// The names of the JSON contracts of a guide, of the list of guides and of a search in them.
const (
	GuideSchema  = "oomscan.guide/v1"
	guidesSchema = "oomscan.guides/v1"
	searchSchema = "oomscan.search/v1"
)

// Guide is a guide, or the part of it that was asked for. Like a report it is plain values, and its keys are always
// present.
type Guide struct {
	Schema     string               `json:"schema"`
	Guide      GuideHead            `json:"guide"`
	Phase      *string              `json:"phase"`    // what was asked for
	Resource   *string              `json:"resource"` // the same
	Lists      []GuideList          `json:"lists"`
	Diagnosis  []remedies.Sign      `json:"diagnosis"`
	Parameters []remedies.Explained `json:"parameters"`
	Steps      []remedies.Step      `json:"steps"`
	Templates  []remedies.Template  `json:"templates"`
	Messages   []remedies.Message   `json:"messages"`
	Goals      []remedies.Goal      `json:"goals"`
	Compared   []remedies.Compared  `json:"compared"`
	Notes      []remedies.Note      `json:"notes"`
}

// GuideHead says which guide it is.
type GuideHead struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Title     string  `json:"title"`
	Date      *string `json:"date"`
	URL       *string `json:"url"`
	Framework string  `json:"framework"`
	Document  bool    `json:"document"` // one of the guides themselves, not a list made of official documents
	Note      string  `json:"note"`
	SeenIn    string  `json:"seen_in"` // versions in which the parameters were looked up
}

// GuideList is one checklist.
type GuideList struct {
	ID        string      `json:"id"`
	Heading   string      `json:"heading"`
	General   bool        `json:"general"`
	Phases    []string    `json:"phases"`
	Resources []string    `json:"resources"`
	Kinds     []string    `json:"kinds"`
	Items     []GuideItem `json:"items"`
}

// GuideItem is one item of a checklist, with what a run's settings make of it where they were given.
type GuideItem struct {
	Order       int                   `json:"order"`
	ID          string                `json:"id"`
	Title       string                `json:"title"`
	Detail      string                `json:"detail"`
	Why         string                `json:"why"`
	Caution     string                `json:"caution"`
	Addition    bool                  `json:"addition"` // not in the document: from a later version or the source
	LastResort  bool                  `json:"last_resort"`
	Phases      []string              `json:"phases"`
	Resources   []string              `json:"resources"`
	Needs       []string              `json:"needs"`
	Parameters  []GuideParameter      `json:"parameters"`
	Syntax      string                `json:"syntax"`
	Snippet     string                `json:"snippet"`
	Corrections []remedies.Correction `json:"corrections"`
	Applies     *bool                 `json:"applies"`
	AppliesWhy  string                `json:"applies_why"`
	Changes     []Change              `json:"changes"`
	Source      Source                `json:"source"`
}

// GuideParameter is one setting of an item.
type GuideParameter struct {
	Key       string              `json:"key"`
	Surface   string              `json:"surface"`
	Direction string              `json:"direction"`
	Value     *string             `json:"value"` // the guide's
	Default   *string             `json:"default"`
	Min       *string             `json:"min"`
	Max       *string             `json:"max"`
	Spellings []remedies.Spelling `json:"spellings"`
	Source    *string             `json:"source"`
	SeenIn    string              `json:"seen_in"` // versions that spell it so
}

func headOf(g *remedies.Guide) GuideHead {
	return GuideHead{g.ID, g.Name, g.Title, str(g.Date), str(g.URL), g.Framework, g.Document, g.Note, g.Seen}
}

// NewGuide makes the plain values of a guide.
func NewGuide(b *remedies.Browsed, q remedies.Query) Guide {
	g, m := b.Guide, &b.Manual
	out := Guide{
		Schema:   GuideSchema,
		Guide:    headOf(g),
		Phase:    str(q.Phase),
		Resource: str(q.Resource), Diagnosis: m.Diagnosis, Parameters: m.Parameters, Steps: m.Steps,
		Templates: m.Templates, Messages: m.Messages, Goals: m.Goals, Compared: m.Compared, Notes: m.Notes,
	}
	for _, c := range b.Chapters {
		l := GuideList{ID: c.ID, Heading: c.Heading, General: c.General, Phases: c.Phases, Resources: c.Resources, Kinds: c.Kinds}
		for i := range c.Entries {
			l.Items = append(l.Items, guideItem(&c.Entries[i], g.Seen))
		}
		out.Lists = append(out.Lists, l)
	}
	return out
}

func guideItem(e *remedies.Entry, seen string) GuideItem {
	x := GuideItem{
		Order: e.Order, ID: e.ID, Title: e.Title, Detail: e.Detail, Why: e.Why, Caution: e.Caution, Addition: e.Addition,
		LastResort: e.LastResort, Phases: e.Phases, Resources: e.Resources, Needs: e.Needs, Syntax: e.Syntax, Snippet: e.Snippet,
		Corrections: e.Corrections, Applies: e.Applies, AppliesWhy: e.AppliesWhy, Changes: e.Changes, Source: e.Source,
	}
	for _, own := range []any{&x.Changes, &x.AppliesWhy, &x.Snippet} { // the only parts that hold a run's values
		mask(reflect.ValueOf(own).Elem())
	}
	if len(x.Resources) == 0 {
		x.Resources = []string{"gpu"}
	}
	for i := range e.Parameters {
		p := &e.Parameters[i]
		x.Parameters = append(x.Parameters, GuideParameter{
			p.Key, p.Surface, p.Direction, str(p.Value), str(p.Default), str(p.Min), str(p.Max), p.Spellings, str(p.Source), cmp.Or(p.Seen, seen),
		})
	}
	return x
}
