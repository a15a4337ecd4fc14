package stream

import "testing"

// TestAManifestHoldsTextsForOthers prints objects of Kubernetes as kubectl and helm do.
func TestAManifestHoldsTextsForOthers(t *testing.T) {
	t.Parallel()
	const (
		oom    = "RuntimeError: CUDA error: out of memory\n"
		kill   = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.\n"
		rules  = "data:\n  gpu.yaml: |\n    name: gpu\n    filter:\n    - query:\n        match:\n    alert_text: |\n      {0} on {1}:\n      "
		object = "metadata:\n  name: rules\n  namespace: logging\n"
		config = "apiVersion: v1\nkind: ConfigMap\n" + object + rules
		alert  = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\n" + object + "spec:\n  groups:\n  - name: gpu\n    rules:\n    - alert: GpuFull\n      annotations:\n        description: |\n          The job printed\n          "
		pod    = "apiVersion: v1\nkind: Pod\n" + object + "spec:\n  containers:\n  - name: main\nstatus:\n  containerStatuses:\n  - name: main\n    lastState:\n      terminated:\n"
	)
	for name, c := range map[string]struct {
		log    string
		quoted bool
	}{
		"a map of texts":                     {config + oom, true},
		"another writer's words in it":       {config + "A kill:\n      " + kill, true},
		"as kubectl sorts it":                {"apiVersion: v1\n" + rules + oom + "kind: ConfigMap\n" + object, true},
		"in a list":                          {"apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a.sh: |\n      run\n      " + oom, true},
		"in JSON":                            {"{\n    \"apiVersion\": \"v1\",\n    \"data\": {\n        \"a.sh\": \"RuntimeError: CUDA error: out of memory\\n\"\n    },\n", true},
		"a kind before a version":            {"kind: Secret\napiVersion: v1\nstringData:\n  a.txt: |\n    " + oom, true},
		"a rule that alerts":                 {alert + oom, true},
		"a manifest in a manifest":           {"apiVersion: v1\nkind: ConfigMap\ndata:\n  job.yaml: |\n    spec:\n      args: |\n        " + oom, true},
		"a container that was killed":        {pod + "        exitCode: 137\n        reason: OOMKilled\n", false},
		"what a container said last":         {pod + "        exitCode: 1\n        message: |\n          " + oom, false},
		"the status of a rule":               {alert + "nothing\nstatus:\n  conditions:\n  - message: |\n      " + oom, false},
		"a pod behind a map":                 {config + "nothing\n---\n" + pod + "        reason: OOMKilled\n", false},
		"a failure behind a map":             {config + "nothing\n" + oom, false},
		"an indented failure behind a map":   {config + "nothing\nrunning the job\n      " + oom, false},
		"indented below what a map is named": {"apiVersion: v1\n" + rules + "nothing\nkind: ConfigMap\n" + object + "      " + oom, false},
		"a log that was saved in a map":      {"apiVersion: v1\nkind: ConfigMap\ndata:\n  train.log: |\n    step 1\n    " + oom, false},
		"a text in an object of a job":       {"apiVersion: batch/v1\nkind: Job\nspec:\n  note: |\n    step 1\n    " + oom, false},
		"settings of a run":                  {"data:\n  path: /d\n  note: |\n    " + oom, false},
		"settings of a run behind a version": {"apiVersion: v1\ntrainer:\n  n: 1\ntraining starts\ndata:\n  path: |\n    " + oom, false},
	} {
		for _, head := range []bool{true, false} {
			assertQuoted(t, c.quoted, filler+c.log, head, name)
		}
	}
}
