package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// launchLaunchers are Ray, torchrun, DeepSpeed's launcher and Kubernetes.
func launchLaunchers() []pattern.Pattern {
	ray := map[string]string{"launcher": "ray"}
	torchrun := map[string]string{"launcher": "torchrun"}
	return []pattern.Pattern{
		markers{kind: "launch", source: "Ray 1.x-2.5x, python/ray/_private/worker.py, dashboard/modules/job/cli.py"}.line("launch.ray", ray,
			`(?:Connect(?:ed|ing) to (?:existing )?Ray cluster|Job submission server address|Ray runtime started|ray\.exceptions\.\w)`,
			[]string{" Ray cluster", "Job submission server address", "Ray runtime started", "ray.exceptions."},
			"Connected to Ray cluster. View the dashboard at http://10.77.0.31:8265", "ray.exceptions.RayTaskError(KeyError): ray::f() (pid=6900, ip=10.0.2.2)"),
		markers{kind: "launch", source: "Ray 1.x-2.5x, python/ray/_private/worker.py: the driver starts a cluster of its own"}.line("launch.ray_local",
			parser.Fields{"launcher": "ray", "starts": "ray"}, `Started a local Ray instance`, []string{"Started a local Ray instance"},
			"Started a local Ray instance. View the dashboard at 127.0.0.1:8265"),
		{
			Name:     "launch.ray_job",
			Literals: []string{"Job 'raysubmit_"},
			Expr:     `Job '(?<job>raysubmit_\w{1,40})'`,
			Marker:   "launch", Set: ray,
			Source: "Ray 2.x, dashboard/modules/job/cli.py",
			Match:  []pattern.Sample{{Line: "Job 'raysubmit_f3KqE9ppXvZyQ2Ld' submitted successfully", Want: parser.Fields{"job": "raysubmit_f3KqE9ppXvZyQ2Ld"}}},
		},
		markers{kind: "launch", source: "torch 1.9-2.1x, distributed/run.py, distributed/launcher/api.py, elastic/multiprocessing/errors"}.line("launch.torchrun", torchrun,
			`(?:Starting elastic_operator with launch configs|Setting OMP_NUM_THREADS environment variable for each process`+
				`|torch\.distributed\.(?:elastic\.|launcher\.api|run\b)|Root Cause \(first observed failure\))`,
			[]string{
				"Starting elastic_operator with", "Setting OMP_NUM_THREADS environment", "torch.distributed.elastic.", "torch.distributed.launcher.api",
				"torch.distributed.run", "Root Cause (first observed failure)",
			},
			"Starting elastic_operator with launch configs:", "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
			"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default"),
		{
			Name: "launch.command",
			Literals: []string{
				"+ python", "$ python", "# python", "+ torchrun ", "$ torchrun ", "# torchrun ", "+ accelerate ", "$ accelerate ", "# accelerate ", "+ deepspeed ", "$ deepspeed ", "# deepspeed ",
			},
			Expr:   `^(?:\++|(?:\([\w./-]{1,40}\) ?)?(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[: ][^$#\n]{0,200}[$#]|[$])) (?:python[\d.]{0,4}|torchrun|accelerate launch|deepspeed) \S`,
			Marker: "launch", Set: parser.Fields{"starts": "command"}, Source: "bash: a prompt, or set -x",
			Match: lines(
				"+ python train.py --batch 8", "$ python3 train.py", "u@n1:~/w$ torchrun --nproc_per_node=8 train.py", "(base) [u@n1 w]$ accelerate launch train.py",
				"root@9f3c:/workspace# deepspeed train.py", "++ python3.11 -m verl.trainer.main_ppo",
			),
			NoMatch: []string{"# python is slow here", "see $ python", "+ pythonic style"},
		},
		{
			// Only who starts all processes prints these, before any of them; a restart of the workers does not.
			Name: "launch.start",
			Literals: []string{
				"Setting OMP_NUM_THREADS environment", "Starting elastic_operator with", "nohup: ignoring input", "were not passed to `accelerate launch`", "deepspeed.launcher.launch --world_info", "distributed tasks at: ",
			},
			Expr: "(?:Setting OMP_NUM_THREADS environment variable for each process|Starting elastic_operator with launch configs|^nohup: ignoring input|" +
				"The following values were not passed to `accelerate launch`|^cmd = \\S{0,200}python[\\d.]{0,5} -u -m deepspeed\\.launcher\\.launch --world_info|" +
				"Initializing \\d{1,5} distributed tasks at: )",
			Marker: "launch", Set: parser.Fields{"starts": "launcher"},
			Source: "torch 1.9-2.1x, distributed/run.py; coreutils, nohup; accelerate, commands/launch.py; DeepSpeed, launcher/runner.py; LLaMA-Factory, cli.py",
			Match: lines(
				"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default", "Starting elastic_operator with launch configs:", "nohup: ignoring input and redirecting stderr to stdout",
				"The following values were not passed to `accelerate launch` and had defaults used instead:", "cmd = /opt/conda/bin/python3.10 -u -m deepspeed.launcher.launch --world_info=eyJ --master_port=29500 t.py",
				"Initializing 8 distributed tasks at: 127.0.0.1:29500",
			),
			NoMatch: []string{"run it with nohup: ignoring input is fine", "see cmd = python -u -m deepspeed.launcher.launch --world_info"},
		},
		{
			// A process prints these once, as it begins.
			Name: "launch.process",
			Literals: []string{
				"Tracking run with wandb version ", "opened dynamic library libcudart", "GPU available: True", "oneDNN custom operations are on", "Initializing distributed: GLOBAL_RANK: 0,",
			},
			Expr:   `(?:^Tracking run with wandb version \d|^Successfully opened dynamic library libcudart|^GPU available: True|^oneDNN custom operations are on|^Initializing distributed: GLOBAL_RANK: 0,)`,
			Marker: "launch", Set: parser.Fields{"starts": "process"},
			Source: "W&B 0.12-0.2x, sdk/wandb_init.py; TensorFlow 2.x, stream_executor, core/util/port.cc; PyTorch Lightning 1.x-2.x",
			Match: lines(
				"Tracking run with wandb version 0.17.8", "Successfully opened dynamic library libcudart.so.10.1", "GPU available: True (cuda), used: True",
				"oneDNN custom operations are on. You may see slightly different numerical results", "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/8",
			),
			NoMatch: []string{"is a GPU available: True or False"},
		},
		{
			// The command line; bash, `set -x` and pod specifications print it.
			Name:     "launch.torchrun_command",
			Literals: []string{"torchrun ", "torch.distributed.launch ", "torch.distributed.run ", "tune run "},
			Expr:     `(?:\btorchrun|\btorch\.distributed\.(?:launch|run)|\btune run) (?:(?=[^\n]{0,300}?--node[-_]rank[= ](?<node_rank>\d{1,5})\b)|)[^\n]{0,200}?--nproc[-_]per[-_]node[= ](?<gpus_per_node>\d{1,4})\b`,
			Requires: []string{"--nproc"},
			Marker:   "launch", Set: torchrun,
			Source: "torch, distributed/run.py",
			Match: []pattern.Sample{
				{Line: "+ torchrun --nnodes=2 --nproc_per_node=8 train.py", Want: parser.Fields{"gpus_per_node": "8"}},
				{Line: "torchrun --node_rank=1 --nproc_per_node=8 train.py", Want: parser.Fields{"gpus_per_node": "8", "node_rank": "1"}},
				{Line: "python -m torch.distributed.launch --nproc_per_node=4 --use_env t.py", Want: parser.Fields{"gpus_per_node": "4"}},
			},
			NoMatch: []string{"torchrun --help"},
		},
		{
			Name:     "launch.torchrun_one_node",
			Literals: []string{"torchrun ", "torch.distributed.launch ", "torch.distributed.run ", "tune run "},
			Expr:     `(?:\btorchrun|\btorch\.distributed\.(?:launch|run)|\btune run) (?![^\n]{0,4000}(?:nnodes|\\\s*$))[^\n]{0,200}?--nproc[-_]per[-_]node[= ]\d`,
			Requires: []string{"--nproc"},
			Marker:   "launch", Set: parser.Fields{"launcher": "torchrun", "nodes": "1"},
			Source: "torch, distributed/run.py: one node unless --nnodes says more",
			Match:  lines("+ torchrun --nproc_per_node=8 train.py", "+ tune run --nproc_per_node 4 full_finetune_distributed --config llama3/8B_full"),
			NoMatch: []string{
				"+ torchrun --nnodes=2 --nproc_per_node=8 train.py", "+ torchrun --nproc_per_node=8 --nnodes $N train.py", `torchrun --nproc_per_node=8 \`,
			},
		},
		{
			Name:     "launch.torchrun_nodes",
			Literals: []string{"torchrun ", "torch.distributed.launch ", "torch.distributed.run "},
			Expr:     `(?:\btorchrun|\btorch\.distributed\.(?:launch|run)) [^\n]{0,200}?--nnodes[= ](?<nodes>\d{1,5})\b(?!:)`,
			Requires: []string{"--nnodes"},
			Marker:   "launch", Set: torchrun,
			Source: "torch, distributed/run.py",
			Match:  []pattern.Sample{{Line: "+ torchrun --nnodes=2 --nproc_per_node=8 train.py", Want: parser.Fields{"nodes": "2"}}},
		},
		{
			Name:     "launch.elastic_config",
			Literals: []string{"nproc_per_node   : ", "max_nodes        : "},
			Expr:     `(?:nproc_per_node {1,4}: (?<gpus_per_node>\d{1,4})|max_nodes {1,12}: (?<nodes>\d{1,5}))\s*$`,
			Marker:   "launch", Set: torchrun,
			Source: "torch 1.9-2.1x, distributed/launcher/api.py",
			Match: []pattern.Sample{
				{Line: "  nproc_per_node   : 2", Want: parser.Fields{"gpus_per_node": "2"}},
				{Line: "  max_nodes        : 1", Want: parser.Fields{"nodes": "1"}},
			},
		},
		markers{kind: "launch", source: "Kubernetes: environment of a pod, kubectl describe, Kubeflow"}.line("launch.kubernetes", parser.Fields{"launcher": "k8s"},
			`(?:KUBERNETES_SERVICE_HOST=|/var/run/secrets/kubernetes\.io/|(?:^|[$#+] {0,2})kubectl (?:logs|describe|get|exec|top)\b|training\.kubeflow\.org/|Controlled By: {1,16}(?:PyTorchJob|MPIJob|RayCluster|Job|JobSet)/|^\s*\[kubeflow\])`,
			[]string{"KUBERNETES_SERVICE_HOST=", "/secrets/kubernetes.io/", "kubectl ", "training.kubeflow.org/", "Controlled By: ", "[kubeflow]"}, "KUBERNETES_SERVICE_HOST=10.96.0.1",
			"$ kubectl logs train-worker-0 -n ml", "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token",
			"Labels:           training.kubeflow.org/job-name=llama70b-sft", "Controlled By:    PyTorchJob/llama70b-sft"),
	}
}

// launchSlurm are the banners and variables of Slurm jobs.
func launchSlurm() []pattern.Pattern {
	const src = "Slurm 2.6-26.05: variables of a job, sbatch, srun, slurmstepd"
	slurm := map[string]string{"launcher": "slurm"}
	return []pattern.Pattern{
		{
			Name: "launch.slurm_job",
			Literals: []string{
				"SLURM_JOB_ID=", "SLURM_JOBID=", "SLURM_JOB_ID: ", "SLURM_JOB_ID = ", "Submitted batch job ", "srun: job ", "slurmd/job", "JobId=1", "JobId=2", "JobId=3", "JobId=4", "JobId=5", "JobId=6", "JobId=7", "JobId=8", "JobId=9", "salloc: Granted job",
			},
			Expr:   `(?:\bSLURM_JOB_?ID(?:=|: | = )|Submitted batch job |srun: job |slurmd/job|salloc: Granted job allocation |\bJobId=)0{0,8}(?<job>[1-9]\d{0,11})\b`,
			Marker: "launch", Set: slurm, Source: src,
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_ID=88123", Want: parser.Fields{"job": "88123"}},
				{Line: "Submitted batch job 4242", Want: parser.Fields{"job": "4242"}},
				{Line: "/var/spool/slurmd/job4242/slurm_script: line 12: 9120 Killed", Want: parser.Fields{"job": "4242"}},
				{Line: "/var/spool/slurmd/job00731/slurm_script: line 3: 611 Killed", Want: parser.Fields{"job": "731"}}, // the folder's name is padded
				{Line: "JobId=54 JobName=wrap UserId=user(2001)", Want: parser.Fields{"job": "54"}},
			},
			NoMatch: []string{"echo SLURM_JOB_ID=$SLURM_JOB_ID"},
		},
		{
			Name:     "launch.slurm",
			Literals: []string{"slurmstepd: error: ", "srun: error", "srun: Job step", "srun: Force", "srun: launch", "slurm_script: "},
			Expr:     `(?:slurmstepd: error: |srun: (?:error|Job step|Force|launch)|\bslurm_script: )`,
			Marker:   "launch", Set: slurm, Source: src,
			Match: lines(
				"srun: error: gpu-a07: task 0: Exited with exit code 1",
				"slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2025-01-01T00:00:00 ***",
			),
		},
		{
			Name:     "launch.slurm_size",
			Literals: []string{"SLURM_JOB_NUM_NODES=", "SLURM_NNODES=", "SLURM_NTASKS=", "SLURM_NPROCS=", "SLURM_GPUS_ON_NODE=", "SLURM_GPUS_PER_NODE="},
			Expr: `\bSLURM_(?:(?:JOB_NUM_NODES|NNODES)=(?<nodes>\d{1,6})|(?:NTASKS|NPROCS)=(?<tasks>\d{1,8})` +
				`|GPUS_(?:ON|PER)_NODE=(?:[a-z]\w{0,30}:)?(?<gpus_per_node>\d{1,4}))\s*$`,
			Marker: "launch", Set: slurm, Source: src,
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_NUM_NODES=2", Want: parser.Fields{"nodes": "2"}},
				{Line: "SLURM_NTASKS=16", Want: parser.Fields{"tasks": "16"}},
				{Line: "SLURM_GPUS_ON_NODE=8", Want: parser.Fields{"gpus_per_node": "8"}},
			},
			NoMatch: []string{"SLURM_NTASKS_PER_NODE=8"},
		},
	}
}
