package cli

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/classifier"
	"oomscan/classifier/phase"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/remedies"
)

// guideOptions are the flags of the guide command.
type guideOptions struct {
	options
	phase    string
	resource string
	search   string
	set      []string
}

var (
	phases       = phase.Known()
	resources    = []string{"gpu", "host", "shm"}
	guideFormats = slices.Sorted(maps.Keys(report.GuideFormats()))
)

// phaseNames are the words that guides and users have for phases, besides the report's own.
var phaseNames = map[string]string{
	"generation": "rollout", "inference": "rollout", "rollouts": "rollout", "train_actor": "training", "train": "training",
	"train_log_probs": "logprob", "log_probs": "logprob", "log_prob": "logprob", "logprobs": "logprob", "update_weights": "weight_update",
	"weight_sync": "weight_update", "weight_updates": "weight_update", "startup": "init", "initialization": "init", "optimizer_step": "optimizer",
	"forward_pass": "forward", "backward_pass": "backward",
}

// guideCmd shows the guides themselves.
func guideCmd(s Streams, status *int) *cobra.Command {
	var o guideOptions
	cmd := &cobra.Command{
		Use:   "guide [NAME]",
		Short: "Show the out-of-memory guides: their checklists, parameters, templates and tables",
		Long: `guide lists the out-of-memory guides that reports take their checklists from. With a
NAME it shows one: every checklist in the guide's order, the parameters with their
spellings, defaults and bounds, what the guide gets wrong, debugging steps, templates
and tables. --phase and --resource narrow it to one list.

With --set or --run-config the items are filled in as a report would: the next value
of each parameter, computed, and what is already so.`,
		Example: `  oomscan guide
  oomscan guide verl --phase backward
  oomscan guide verl --resource host --format markdown
  oomscan guide areal --phase training --set train_dataset.max_length=1024 \
          --set gconfig.max_new_tokens=3072
  oomscan guide --search mem_fraction`,
		Args: atMostOne("NAME"),
		RunE: func(_ *cobra.Command, args []string) (err error) { *status, err = o.guide(args, s); return err },
	}
	f := cmd.Flags()
	f.StringVar(&o.phase, "phase", "", "only this phase: "+columns(phases, 44))
	f.StringVar(&o.resource, "resource", "", "only this memory: "+strings.Join(resources, "|"))
	f.StringVar(&o.search, "search", "", "find a `WORD` in the parameters and items of all guides")
	f.StringArrayVar(&o.set, "set", nil, "a setting of the run, `KEY=VALUE`; may be repeated")
	f.StringVar(&o.runConfig, "run-config", "", "the run's own configuration `FILE` (YAML, or a log)")
	packFlag(f, &o.options)
	f.StringVar(&o.format, "format", "text", "output: "+strings.Join(guideFormats, "|"))
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output")
	f.StringVar(&o.color, "color", "auto", "colour: "+strings.Join(colors, "|"))
	for name, words := range map[string][]string{"phase": phases, "resource": resources, "format": guideFormats, "color": colors} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return o.names(), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// guide prints what was asked for, and returns the exit status: a search that finds nothing has one of its own.
func (o *guideOptions) guide(args []string, s Streams) (status int, err error) {
	if err := cmp.Or(o.words(), o.readPacks(s)); err != nil {
		return exitTrouble, err
	}
	var q remedies.Query
	if len(args) > 0 {
		name, ok := resolve(args[0], o.names())
		if !ok {
			return exitTrouble, o.noGuide(args[0])
		}
		args = []string{name}
		if q, err = o.query(); err != nil {
			return exitTrouble, err
		}
	}
	page, found, err := o.page(args, q)
	if err != nil {
		return exitTrouble, err
	}
	if !found {
		status = exitNothingFound
	}
	return status, o.write(s, func(out io.Writer) error { return report.GuideFormats()[o.format](out, page, o.style(s)) })
}

// page is what was asked for, and whether a search found anything.
func (o *guideOptions) page(args []string, q remedies.Query) (page *report.GuidePage, found bool, err error) {
	switch {
	case o.search != "":
		hits := remedies.Search(o.search, o.pack.Guides...)
		if len(args) > 0 {
			hits = slices.DeleteFunc(hits, func(h remedies.Hit) bool { return h.Guide.ID != args[0] })
		}
		return report.GuideSearch(o.search, hits), len(hits) > 0, nil
	case len(args) == 0:
		return report.GuideIndex(remedies.Guides(o.pack.Guides...)), true, nil
	}
	b, err := remedies.Browse(args[0], q, o.pack.Guides...)
	if err != nil {
		return nil, false, err
	}
	g := report.NewGuide(b, q)
	return g.Page(), true, nil
}

// words checks the flags' words, and puts the report's own for those that guides use.
func (o *guideOptions) words() error {
	w := strings.ReplaceAll(strings.ToLower(o.phase), "-", "_")
	if known, ok := phaseNames[w]; ok {
		w = known
	}
	if w == "cpu" || slices.Contains(resources, w) { // a guide's "CPU phase"
		o.resource, w = strings.Replace(w, "cpu", "host", 1), ""
	}
	o.phase = w
	if strings.EqualFold(o.resource, "cpu") {
		o.resource = "host"
	}
	return oneOf(choice{"--phase", &o.phase, phases}, choice{"--resource", &o.resource, resources}, choice{"--format", &o.format, guideFormats},
		choice{"--color", &o.color, colors})
}

// query is what the flags ask for.
func (o *guideOptions) query() (remedies.Query, error) {
	q := remedies.Query{Phase: o.phase, Resource: o.resource}
	extra, err := o.settings()
	if err != nil {
		return q, err
	}
	if len(extra) > 0 || len(o.set) > 0 {
		q.Settings = map[string]classifier.Value{}
	}
	for _, x := range extra {
		q.Settings[x.Key] = classifier.Value{Value: x.Value, At: x.At}
	}
	for _, kv := range o.set {
		k, v, ok := strings.Cut(kv, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return q, problem{where: "--set " + kv, what: "is no setting", hint: "--set KEY=VALUE, for example --set gconfig.max_new_tokens=3072"}
		}
		q.Settings[k] = classifier.Value{Value: strings.TrimSpace(v), At: parser.Position{}}
	}
	return q, nil
}

func (o *guideOptions) names() []string {
	gs := remedies.Guides(o.pack.Guides...)
	names := make([]string, len(gs))
	for i := range gs {
		names[i] = gs[i].ID
	}
	return names
}

// noGuide is the complaint about a name that no guide has.
func (o *guideOptions) noGuide(name string) error {
	hint := hintFor(name, o.names(), "oomscan guide lists them")
	if topic, ok := resolve(name, topics()); ok {
		hint += "\nsee also: oomscan help " + topic
	}
	return problem{where: "guide " + name, what: "there is no guide of that name", hint: hint}
}
