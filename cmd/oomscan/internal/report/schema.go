package report

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/classifier/phase"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// JSONSchema is a JSON Schema (draft 2020-12), or a part of one.
type JSONSchema map[string]any

// contracts are the documents that programs read, by the words of the schema command: the Go types that are encoded.
var contracts = map[string][]reflect.Type{
	"report": {reflect.TypeFor[Report](), reflect.TypeFor[jobsDocument]()},
	"ndjson": {reflect.TypeFor[ndjsonIncident](), reflect.TypeFor[ndjsonEnd]()},
	"guide":  {reflect.TypeFor[Guide](), reflect.TypeFor[guideIndex](), reflect.TypeFor[guideSearch]()},
	"plan":   {reflect.TypeFor[Plan]()},
}

// jobsDocument is the document of several jobs, which [NewJSON] writes job by job.
type jobsDocument struct {
	Schema       string        `json:"schema"`
	Version      string        `json:"version"`
	Inputs       []Input       `json:"inputs"`
	Jobs         []jobDocument `json:"jobs"`
	Unattributed []jobDocument `json:"unattributed"`
	Summary      Summary       `json:"summary"`
	Partial      bool          `json:"partial"`
	Stats        Stats         `json:"stats"`
}

// jobDocument is one of several jobs in it.
type jobDocument struct {
	Job string `json:"job"`
	Why string `json:"together_by"`
	Report
}

// SchemaNames are the documents that have a schema.
func SchemaNames() []string { return slices.Sorted(maps.Keys(contracts)) }

// SchemaOf returns the schema of a document, nil when there is none of that name. Readers must let keys pass that it does
// not name: later versions may add some.
func SchemaOf(name string) JSONSchema {
	types, ok := contracts[name]
	if !ok {
		return nil
	}
	defs := JSONSchema{}
	var either []JSONSchema
	for _, t := range types {
		either = append(either, schemaOfType(t, defs))
	}
	s := JSONSchema{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": contractTitles[name], "$defs": defs}
	if len(either) == 1 {
		maps.Copy(s, either[0])
	} else {
		s["anyOf"] = either
	}
	return s
}

// schemaOfType is what a value of the type is encoded as. Structs go to defs.
func schemaOfType(t reflect.Type, defs JSONSchema) JSONSchema {
	switch t.Kind() {
	case reflect.Pointer:
		return orNull(schemaOfType(t.Elem(), defs))
	case reflect.Slice:
		return JSONSchema{"type": "array", "items": schemaOfType(t.Elem(), defs)}
	case reflect.Map:
		return JSONSchema{"type": "object", "additionalProperties": schemaOfType(t.Elem(), defs)}
	case reflect.Bool:
		return JSONSchema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return JSONSchema{"type": "integer"}
	case reflect.Struct:
		if t == instant {
			return JSONSchema{"type": "string", "format": "date-time"}
		}
		if name := t.Name(); defs[name] == nil {
			defs[name] = JSONSchema{} // a type that holds itself ends here
			defs[name] = schemaOfStruct(t, defs)
		}
		return JSONSchema{"$ref": "#/$defs/" + t.Name()}
	}
	return JSONSchema{"type": "string"} // the test holds every document to its schema: there are no other kinds
}

// orNull lets a value be unknown.
func orNull(s JSONSchema) JSONSchema {
	if kind, ok := s["type"].(string); ok {
		s["type"] = []string{kind, "null"}
		return s
	}
	return JSONSchema{"anyOf": []JSONSchema{s, {"type": "null"}}}
}

func schemaOfStruct(t reflect.Type, defs JSONSchema) JSONSchema {
	properties, required := JSONSchema{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue // what is embedded is visible field by field
		}
		s := schemaOfType(f.Type, defs)
		owner := t
		if len(f.Index) > 1 {
			if owner = t.Field(f.Index[0]).Type; owner.Kind() == reflect.Pointer {
				owner = owner.Elem()
			}
		}
		key := owner.Name() + "." + name
		if text := described[key]; text != "" {
			s["description"] = text
		}
		if words := schemaWords()[key]; words != nil {
			s["enum"] = words
		}
		properties[name] = s
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	return JSONSchema{"type": "object", "properties": properties, "required": required}
}

// schemaWords are the words that a key takes, from their registries. Words of frameworks and changes are not among them:
// later versions add to those.
func schemaWords() map[string][]string {
	phases := append(phase.Known(), phase.Unknown)
	confidence := []string{"high", "medium", "low"}
	resources := []string{"gpu", "host", "shm"}
	return map[string][]string{
		"Report.schema":       {Schema},
		"jobsDocument.schema": {Schema},
		"Guide.schema":        {GuideSchema},
		"guideIndex.schema":   {guidesSchema},
		"guideSearch.schema":  {searchSchema},
		"Plan.schema":         {PlanSchema},
		"Incident.verdict":    {string(classifier.Memory), string(classifier.Suspect), string(classifier.Other)},
		"Incident.kind":       Kinds(),
		"Incident.resource":   resources,
		"Incident.phase":      phases,
		"Incident.confidence": confidence,
		"Why.id":              cause.IDs(),
		"Why.confidence":      confidence,
		"BudgetPart.resource": resources,
		"Readings.resource":   resources,
		"PlanPhase.phase":     phases,
	}
}

// Kinds are the words for kinds of incidents.
func Kinds() []string {
	var words []string
	for _, k := range parser.Kinds() {
		words = append(words, string(k))
	}
	return words
}
