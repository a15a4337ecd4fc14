package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheClassAloneIsAFailure takes an exception that can mean nothing else for one, where its message was cut away.
func TestTheClassAloneIsAFailure(t *testing.T) {
	t.Parallel()
	const stack = "Traceback (most recent call last):\n  File \"/w/driver.py\", line 4, in loop\n    ray.get(refs)\n"
	for log, phase := range map[string]string{
		"ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=207, ip=10.0.0.2, actor_id=ab, repr=<x>)\n":  "training",
		stack + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::PolicyWorker.train_step() (pid=31, ip=10.0.0.3)\n":                                "training",
		"ray.exceptions.RayTaskError(OutOfMemoryError): ray::LLMRayActor.generate() (pid=31, ip=10.0.0.3)\n":                                           "rollout",
		"ray.exceptions.RayTaskError(OutOfMemoryError): ray::SGLangEngine.init() (pid=31, ip=10.0.0.3)\n":                                              "init",
		"ray.exceptions.RayTaskError(OutOfMemoryError): ray::ReferenceModelActor.forward() (pid=31, ip=10.0.0.3)\n":                                    "logprob",
		"OutOfMemoryError                          Traceback (most recent call last)\nCell In[12], line 1\n----> 1 trainer.train()\n":                  "training",
		"OutOfMemoryError                          Traceback (most recent call last)\n/tmp/ipykernel_12/123.py in <module>\n----> 1 loss.backward()\n": "backward",
		stack + "ray.exceptions.RayTaskError(OutOfMemoryError): ray::main_task() (pid=508648, ip=10.1.200.6)\n" +
			"  File \"/w/ray_trainer.py\", line 901, in fit\n    out = self.actor_rollout_wg.update_actor(batch)\n": "training",
		stack + "torch.OutOfMemoryError\n":      "unknown",
		stack + "torch.cuda.OutOfMemoryError\n": "unknown",
		stack + "torch.OutOfMemoryError: \n":    "unknown",
		"(Worker pid=31) " + "torch.OutOfMemoryError: Caught OutOfMemoryError in replica 0 on device 0.\n": "unknown",
		stack + "cupy.cuda.memory.OutOfMemoryError\n":                                                      "unknown",
		"[rank3]: torch.OutOfMemoryError: \n":                                                              "unknown",
		stack + "torch.cuda.OutOfMemoryError: Allocation on device \n":                                     "unknown",
		stack + "numpy.core._exceptions._ArrayMemoryError\n":                                               "unknown",
		stack + "MemoryError\n":                                                                            "unknown",
	} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": "all is well\n" + log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, Memory, got[0].Verdict)
			assert.Equal(t, phase, got[0].Phase, got[0].PhaseWhy)
		})
	}
	for _, log := range []string{
		"except torch.OutOfMemoryError:\n    pass\n",
		"from torch.cuda import OutOfMemoryError\n",
		"see ray.exceptions.OutOfMemoryError in the documentation\n",
		"retry_exceptions=[ray.exceptions.OutOfMemoryError]\n",
		"raise OutOfMemoryError\n",
		"caught_exceptions: (RuntimeError, torch.OutOfMemoryError)\n",
		"class OutOfMemoryError(RuntimeError)\n",
		"ray.exceptions.RayTaskError(ValueError): ray::WorkerDict.update_actor() (pid=207, ip=10.0.0.2)\n",
		"test_oom.py::test_OutOfMemoryError PASSED\n",
		"        except (torch.cuda.OutOfMemoryError, RuntimeError) as e:\n",
	} {
		assert.Empty(t, read(t, map[string]string{"a.log": log}).Incidents, log)
	}
}
