package cli

import (
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/source"
	"oomscan/remedies"
	"oomscan/remedies/memory"
)

// planOptions are the flags of the plan command.
type planOptions struct {
	options
	set   []string
	model string
}

var planFormats = slices.Sorted(maps.Keys(report.PlanFormats()))

// planCmd shows what a run's memory is made of, without a failure, and what a change would do.
func planCmd(s Streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan [PATH ...]",
		Short: "Compute a run's memory budget, and what a change of settings would do to it",
		Long: `plan computes what a run takes of each GPU and of each node, phase by phase, with
the longest samples that its settings allow, and says whether that fits. The run is
described by its logs, by its configuration (--run-config), or by settings alone
(--set). It need not have failed, nor have been started.

With a PATH or --run-config, --set shows the run before and after the change.

Facts that no setting tells go into --set as well: card=80GiB or card=H100,
node_memory=2T, total_gpus=16, gpus_per_node=8, micro_batch_tokens=16384,
longest_sample=8192, free_at_start=70GiB, colocated=true, engine_sleeps=true,
reference=true, critic=false. What is missing is listed, with how to give it.`,
		Example: `  oomscan plan slurm-4242.err
  oomscan plan logs/ --set actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2
  oomscan plan --framework verl --run-config run.yaml --set card=H100
  oomscan plan --framework megatron --model config.json \
          --set tensor_model_parallel_size=4 --set micro_batch_size=1 \
          --set seq_length=8192 --set total_gpus=8 --set card=80GiB`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return o.plan(args, s) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "a setting to change, or a fact of the run, `KEY=VALUE`;\nmay be repeated")
	f.StringVar(&o.runConfig, "run-config", "", "the run's own configuration `FILE` (YAML, or a log)")
	f.StringVar(&o.model, "model", "", "the model's config.json, as `FILE`")
	f.StringVar(&o.framework, "framework", "", "the framework, when it is detected wrongly:\n"+columns(frameworks, 50))
	f.StringVar(&o.format, "format", "text", "output: "+strings.Join(planFormats, "|"))
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output")
	f.StringVar(&o.color, "color", "auto", "colour: "+strings.Join(colors, "|"))
	f.StringVar(&o.job, "job", "", "of several jobs, plan for the one with this `NAME`,\nor whose name ends so")
	packFlag(f, &o.options)
	limitFlags(f, &o.options)
	for name, words := range map[string][]string{"format": planFormats, "color": colors, "framework": frameworks} {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

// plan prints the budget of the run that the paths and the flags describe.
func (o *planOptions) plan(paths []string, s Streams) error {
	o.jobs = min(runtime.GOMAXPROCS(0), maxJobs)
	if err := o.readPacks(s); err != nil {
		return err
	}
	if err := oneOf(choice{"--format", &o.format, planFormats}, choice{"--color", &o.color, colors}, choice{"--framework", &o.framework, o.frameworks()}); err != nil {
		return err
	}
	if err := o.checkLimits(); err != nil {
		return err
	}
	if len(paths) == 0 && o.runConfig == "" && len(o.set) == 0 {
		return problem{what: "nothing to plan", hint: "give a log, --run-config FILE, or settings: oomscan plan --help"}
	}
	facts, changes, err := o.sets()
	if err != nil {
		return err
	}
	model, err := o.modelFile()
	if err != nil {
		return err
	}
	var settings map[string]string
	if len(paths) == 0 && o.runConfig == "" { // there is nothing to change: the settings are the run
		settings, changes = changes, nil
	}
	res, err := o.described(paths, settings, s)
	if err != nil {
		return err
	}
	page, err := planPage(res, facts, changes, model)
	if err != nil {
		return problem{where: "--set", what: err.Error(), hint: "write the key in full"}
	}
	return o.write(s, func(out io.Writer) error { return report.PlanFormats()[o.format](out, page, o.style(s)) })
}

// planPage computes the plan, before and after the changes where there are any.
func planPage(res classifier.Result, facts, changes map[string]string, model *memory.Model) (*report.Plan, error) {
	run, err := remedies.Overridden(&res.Run, facts)
	if err != nil {
		return nil, err
	}
	before := remedies.PlanOf(run, res.Incidents, model)
	if len(changes) == 0 {
		return report.NewPlan(version(), before, nil, nil), nil
	}
	if run, err = remedies.Overridden(run, changes); err != nil {
		return nil, err
	}
	after := remedies.PlanOf(run, res.Incidents, model)
	return report.NewPlan(version(), before, &after, changes), nil
}

// sets are the settings of --set: facts of the run, and changes.
func (o *planOptions) sets() (facts, changes map[string]string, err error) {
	facts, changes = map[string]string{}, map[string]string{}
	for _, kv := range o.set {
		k, v, ok := strings.Cut(kv, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, nil, problem{where: "--set " + kv, what: "is no setting", hint: "--set KEY=VALUE, for example --set card=80GiB"}
		}
		if remedies.OwnInput(k) {
			facts[k] = strings.TrimSpace(v)
		} else {
			changes[k] = strings.TrimSpace(v)
		}
	}
	return facts, changes, nil
}

// modelFile reads --model.
func (o *planOptions) modelFile() (*memory.Model, error) {
	if o.model == "" {
		return nil, nil
	}
	f, err := os.Open(o.model)
	if err != nil {
		return nil, problem{where: o.model, what: cause(err), hint: "--model takes the config.json of a model from huggingface.co"}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return nil, problem{where: o.model, what: cause(errEmpty), hint: "--model takes the config.json of a model from huggingface.co"}
	}
	const most = 1 << 21 // more than ReadHFConfig takes
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, problem{where: o.model, what: cause(err)}
	}
	m, err := memory.ReadHFConfig(data)
	if err != nil {
		return nil, problem{where: o.model, what: err.Error(), hint: "--model takes the config.json of a model from huggingface.co"}
	}
	return &m, nil
}

// described reads the logs of one job, and what is told beside them.
func (o *planOptions) described(paths []string, settings map[string]string, s Streams) (classifier.Result, error) {
	extra, err := o.settings()
	if err != nil {
		return classifier.Result{}, err
	}
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		extra = append(extra, parser.Setting{Key: k, Value: settings[k]})
	}
	j := &scan{options: &o.options, streams: s, paths: paths}
	c := classifier.NewCollector()
	if len(paths) > 0 {
		inputs, problems := source.List(paths)
		results := append(j.unlisted(problems, len(inputs) > 0), j.files(inputs)...)
		j.tellSkipped(problems)
		list, err := j.chosen(j.group(results))
		switch {
		case err != nil:
			return classifier.Result{}, err
		case len(list) > 1:
			return classifier.Result{}, problem{what: "these are the logs of several jobs", hint: "choose one with --job NAME; oomscan PATH lists them"}
		case !slices.ContainsFunc(results, func(r logResult) bool { return r.input.Error == nil }):
			return classifier.Result{}, problem{what: "no input could be read"}
		}
		most := mostOf(list[0].results)
		for i := range list[0].results {
			if facts := list[0].results[i].facts(); facts != nil {
				if list[0].results[i].packed != nil {
					facts.Bound(most)
				}
				c.Merge(facts)
			}
		}
	}
	return c.ResultWith(classifier.Overrides{Framework: o.framework, Settings: extra}), nil
}
