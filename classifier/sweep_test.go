package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What one of several trials, jobs or tasks dies of: its traceback begins where the program caught it.
const (
	trialFull = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free."
	trialDied = "Traceback (most recent call last):\n  File \"/opt/lib/python3.11/site-packages/tool/run.py\", line 308, in run_one\n    f()\n" +
		"  File \"/home/u/fit.py\", line 61, in fit\n    loss.backward()\ntorch.OutOfMemoryError: " + trialFull + "\n"
	gridWarns = "/opt/lib/python3.11/site-packages/sklearn/model_selection/_validation.py:425: FitFailedWarning: \n5 fits failed out of a total of 20.\n" +
		"The score on these train-test partitions for these parameters will be set to nan.\n"
	gridShows = "Below are more details about the failures:\n--------------------------------------------------------------------------------\n5 fits failed with the following error:\n"
)

// TestAProgramThatDoesTheNextThingGoesOn reads what programs print that catch the failure of one trial, job or task, and do others.
func TestAProgramThatDoesTheNextThingGoesOn(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"Optuna":                "[W 2025-06-01 10:00:00,123] Trial 5 failed with parameters: {'bs': 64} because of the following error: OutOfMemoryError('" + trialFull + "').\n" + trialDied + "[I 2025-06-01 10:10:00,123] Trial 6 finished with value: 0.67 and parameters: {'bs': 16}. Best is trial 6 with value: 0.67.\n",
		"Ray Tune":              "2025-08-30 10:20:01,118\tERROR tune_controller.py:1331 -- Trial task failed for trial f_74d84_00005\n" + trialDied + "Trial f_74d84_00005 errored after 0 iterations at 2025-08-30 10:20:01. Total running time: 20min 1s\nTrial f_74d84_00000 completed after 5 iterations at 2025-08-30 10:30:00. Total running time: 30min 0s\n",
		"W&B":                   "wandb: Agent Starting Run: x7n6tsz3 with config:\nRun x7n6tsz3 errored:\n" + trialDied + "wandb: ERROR Run x7n6tsz3 errored: torch.OutOfMemoryError\nwandb: Agent Starting Run: x7n6tsz4 with config:\nwandb: \tbatch_size: 256\n",
		"AutoGluon":             "\tWarning: Exception caused NeuralNetTorch to fail during training... Skipping this model.\n\t\t" + trialFull + "\nDetailed Traceback:\n" + trialDied + "Fitting model: XGBoost ... Training model for up to 41.75s of the 41.74s of remaining time.\n\t0.869\t = Validation score   (roc_auc)\n",
		"Prefect":               "2025-10-10 08:00:44.101 | ERROR   | Task run 'embed-2' - Task run failed with exception: OutOfMemoryError('" + trialFull + "') - Retry 1/3 will start 10 second(s) from now\n" + trialDied + "2025-10-10 08:00:59.101 | INFO    | Task run 'embed-2' - Finished in state Completed()\n",
		"Celery":                "[2024-05-01 10:00:00,123: INFO/ForkPoolWorker-1] Task app.predict[2b2c-11] retry: Retry in 10s: OutOfMemoryError('" + trialFull + "')\n" + trialDied + "[2024-05-01 10:00:12,123: INFO/ForkPoolWorker-1] Task app.predict[2b2c-11] succeeded in 1.25s: None\n",
		"RQ":                    "10:00:00 [Job 741c]: exception raised while executing (app.predict)\n" + trialDied + "10:01:00 default: app.predict(2) (741d)\n10:01:20 default: Job OK (741d)\n",
		"Airflow":               "[2024-05-01T10:00:00.123+0000] {logging_mixin.py:188} INFO - " + trialFull + " Using the host.\n[2024-05-01T10:10:00.123+0000] {taskinstance.py:1206} INFO - Marking task as SUCCESS. dag_id=train, task_id=fit\n",
		"Airflow's function":    trialDied + "[2024-05-01T10:10:00.123+0000] {taskinstance.py:1206} INFO - Marking task as SUCCESS. dag_id=train, task_id=fit\n",
		"scikit-learn's search": gridWarns + gridShows + trialDied + "\n  warnings.warn(some_fits_failed_message, FitFailedWarning)\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": log}).Incidents
			require.Len(t, got, 1)
			assert.True(t, got[0].Survived)
		})
	}
}

// TestAProgramThatGivesUpBehindOtherTrialsDied has the same words, and an end that says that all of it failed.
func TestAProgramThatGivesUpBehindOtherTrialsDied(t *testing.T) {
	t.Parallel()
	const starts = "wandb: Agent Starting Run: x7n6tsz3 with config:\n"
	for name, log := range map[string]string{
		"before any failure":      "Trial f_74d84_00000 completed after 5 iterations at 2025-08-30 10:00:00. Total running time: 5min\n" + trialDied,
		"only this run":           starts + "Run x7n6tsz3 errored:\n" + trialDied,
		"the last run, too":       starts + trialDied + starts + trialDied,
		"too many failed runs":    starts + trialDied + starts + "wandb: ERROR Detected 3 failed runs in the first 60 seconds, killing sweep.\n",
		"Ray Tune's end":          trialDied + "Trial f_74d84_00000 completed after 5 iterations at 2025-08-30 10:30:00. Total running time: 30min\n2025-08-30 10:30:01,954\tERROR tune.py:1142 -- Trials did not complete: [f_74d84_00005]\n",
		"a flow that fails":       trialDied + "2025-10-10 08:00:59.101 | INFO    | Task run 'embed-3' - Finished in state Completed()\n2025-10-10 08:01:00.101 | ERROR   | Flow run 'teal-otter' - Finished in state Failed(\"Flow run encountered an exception: OutOfMemoryError: " + trialFull + "\")\n",
		"a task that fails":       trialDied + "2025-10-10 08:01:00.101 | ERROR   | Task run 'embed-2' - Finished in state Failed('Task run encountered an exception')\n",
		"Airflow's next try":      trialDied + "[2024-05-01T10:10:00.123+0000] {taskinstance.py:1206} INFO - Marking task as UP_FOR_RETRY. dag_id=train, task_id=fit\n",
		"Airflow's last command":  traced + "stats of 1042 files\n[2024-05-01T10:10:00.123+0000] {taskinstance.py:1206} INFO - Marking task as SUCCESS. dag_id=train, task_id=fit\n",
		"no model that is left":   "\t0.869\t = Validation score   (roc_auc)\n" + trialDied + "RuntimeError: No models were trained successfully during fit().\n",
		"a search without scores": "ValueError: \nAll the 5 fits failed.\nIt is very likely that your model is misconfigured.\n" + gridShows + trialDied,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": log}).Incidents
			require.NotEmpty(t, got)
			assert.False(t, got[len(got)-1].Survived)
		})
	}
}
