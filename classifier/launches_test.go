package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLaunchesInOneFileAreAttempts counts the incidents of launches that were appended to one file.
func TestLaunchesInOneFileAreAttempts(t *testing.T) {
	t.Parallel()
	oom := func(size string) string {
		return "Traceback (most recent call last):\n  File \"/w/train.py\", line 90, in <module>\n    main()\n  File \"/w/train.py\", line 61, in main\n    loss.backward()\n" +
			"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + size + " GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	}
	const (
		failed = "E0205 01:02:51.000000 22 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 9) of binary: /usr/bin/python\n" +
			"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
		banner  = "***** Running training *****\n  Num examples = 900\n"
		omp     = "W0205 01:00:00.000000 22 torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded\n"
		server  = "[2026-01-08 08:00:01] server_args=ServerArgs(model_path='/m/q', tp_size=2)\n"
		words   = "bye\nRun name: icy-moon-8.\nModel initialized. Number of parameters: 7251561.\nCompiling the model...\nDone compiling.\nTraining is starting.\n"
		yaml    = "\n2026-01-08 08:00:01,123 - INFO - starting\nmodel: /m/q\nbatch_size: 8\nmicro_batch_size: 2\nlearning_rate: 0.1\nnum_epochs: 3\nseq_len: 4096\nbf16: true\nsave_steps: 50\nseed: 1\n"
		started = "2026-01-08 08:00:01,123\tINFO worker.py:1879 -- Started a local Ray instance.\n"
		command = "+ torchrun --nproc_per_node=8 train.py\n"
	)
	ray := func(size string) string {
		return "Traceback (most recent call last):\n  File \"/w/run.py\", line 9, in <module>\n    main()\nray.exceptions.RayTaskError(OutOfMemoryError): ray::W.train() (pid=7, ip=10.0.0.2)\n" + oom(size)
	}
	for name, c := range map[string]struct {
		log     string
		want    int
		repeats []int
	}{
		"two ranks of one launch":                                          {label("[rank0]: ", oom("2.00")) + label("[rank1]: ", oom("2.00")), 1, []int{1}},
		"two ranks that ask for different sizes":                           {label("[rank0]: ", oom("2.00")) + label("[rank1]: ", oom("2.50")) + failed, 1, []int{1}},
		"one failure printed twice":                                        {oom("2.00") + oom("2.00"), 1, []int{1}},
		"a launcher's end and another start":                               {command + oom("2.00") + failed + command + oom("3.00") + failed, 2, []int{0, 0}},
		"a script that is started by hand again":                           {"$ python train.py --batch 8\n" + oom("2.00") + "$ python train.py --batch 4\n" + oom("1.50"), 2, []int{0, 0}},
		"a script that is started again, of which the last words are left": {"$ python train.py --batch 8\n" + unnumbered + "$ python train.py --batch 4\n" + unnumbered, 2, []int{0, 0}},
		"a prompt with user and host":                                      {"u@n1:~/w$ python train.py\n" + oom("2.00") + "u@n1:~/w$ python train.py --bf16\n" + oom("1.50"), 2, []int{0, 0}},
		"set -x":                                                           {"+ python train.py --batch 8\n" + oom("2.00") + "+ python train.py --batch 4\n" + oom("1.50"), 2, []int{0, 0}},
		"the Trainer's banner twice":                                       {banner + oom("2.00") + banner + oom("1.50"), 2, []int{0, 0}},
		"a loading bar at nought again":                                    {"Loading checkpoint shards:   0%|          | 0/4 [00:00<?, ?it/s]\n" + oom("2.00") + "Loading checkpoint shards:   0%|          | 0/4 [00:00<?, ?it/s]\n" + oom("1.50"), 2, []int{0, 0}},
		"accelerate's and DeepSpeed's end":                                 {command + oom("2.00") + "[2025-06-01 10:00:00,123] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', 'train.py'] exits with return code = 1\n" + command + oom("1.50"), 2, []int{0, 0}},
		"torchrun's first words":                                           {label("[rank0]: ", oom("2.00")) + omp + label("[rank0]: ", oom("3.00")), 2, []int{0, 0}},
		"nohup's":                                                          {label("[rank0]: ", oom("2.00")) + "nohup: ignoring input\n" + label("[rank0]: ", oom("3.00")), 2, []int{0, 0}},
		"a server's arguments":                                             {server + label("[2026-01-08 08:00:22 TP0] ", oom("2.00")) + server + label("[2026-01-08 08:10:22 TP0] ", oom("3.00")), 2, []int{0, 0}},
		"an engine that is made again inside of a run":                     {label("(Engine pid=7) ", server+oom("2.00")+server+oom("3.00")), 1, []int{1}},
		"settings printed again":                                           {yaml + oom("2.00") + yaml + oom("3.00"), 2, []int{0, 0}},
		"a worker's failure raised again by the driver":                    {ray("2.00") + started + ray("3.00"), 2, []int{0, 0}},
		"the same script dies again on the same device":                    {oom("2.00") + words + oom("3.00"), 2, []int{0, 0}},
		"steps of the second launch":                                       {oom("2.00") + words + "step:1 - actor/loss:0.5\nstep:2 - actor/loss:0.4\nstep:3 - actor/loss:0.4\n" + oom("3.00"), 2, []int{0, 0}},
		"a script that dies once and says so again":                        {oom("2.00") + words + oom("2.00"), 1, []int{1}},
		"ranks that each see one device":                                   {oom("2.00") + oom("3.00") + oom("1.50"), 1, []int{2}},
		"ranks of a known group":                                           {omp + oom("2.00") + words + oom("3.00"), 1, []int{1}},
		"W&B's first words":                                                {oom("2.00") + "wandb: Tracking run with wandb version 0.17.8\n" + oom("1.50"), 2, []int{0, 0}},
		"TensorFlow's":                                                     {oom("2.00") + "2020-08-13 14:01:08.206206: I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library libcudart.so.10.1\n" + oom("1.50"), 2, []int{0, 0}},
		"a job that Slurm requeues":                                        {oom("2.00") + "slurmstepd: error: *** JOB 4242 ON n1 CANCELLED AT 2026-01-01T06:00:18 DUE TO JOB REQUEUE ***\n" + oom("1.50"), 2, []int{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, c.want)
			for i, in := range got {
				assert.Equal(t, c.repeats[i], in.Repeats)
				assert.False(t, in.Survived)
			}
		})
	}
}
