package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// kubernetesPatterns are what kubectl, the kubelet and container runtimes tell about a container: its end, its limit,
// its eviction. Field pod is the pod's name.
func kubernetesPatterns() []pattern.Pattern {
	const runtime = "kubectl describe and get, docker inspect; CRI sets the reason from the cgroup's oom_kill counter"
	return []pattern.Pattern{
		{
			// "OOMKilled": false is what every healthy container says.
			Name:     "kubernetes.oom_killed",
			Literals: []string{"OOMKilled", `"reason": "OOM Killed"`},
			Expr:     `(?:(?<![.` + "`" + `])[Rr]eason"?\\?"?: *\\?"?OOM ?Killed\b|\bexit code 137,? reason OOM ?Killed\b|(?<!\b(?:an?|the|repeatedly) |\*)OOMKilled \(exit code (?<exitcode>\d+)\)|^(?<pod>[a-z0-9][\w.-]{0,252}) +\d+/\d+ +(?:Init:)?OOMKilled\b)`,
			Requires: []string{"eason", "exit code", "/"},
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: runtime + "; Argo",
			Match: []pattern.Sample{
				{Line: `      Reason:       OOMKilled`},
				{Line: `        "reason": "OOMKilled",`},
				{Line: `                    "reason": "OOM Killed",`},
				{Line: `sft-worker-0                       0/1     OOMKilled          2 (31s ago)   5m`, Want: parser.Fields{"pod": "sft-worker-0"}},
				{Line: `sft-worker-3     0/1     OOMKilled   0          12m`, Want: parser.Fields{"pod": "sft-worker-3"}},
				{Line: `task train-0 exited: exit code 137, reason OOMKilled, memory limit 400 GB`},
				{Line: `Error: OOMKilled (exit code 137)`, Want: parser.Fields{"exitcode": "137"}},
			},
			NoMatch: []string{
				`If the pod's status shows reason OOMKilled, raise its limit.`,
				"read `lastState.terminated.reason: OOMKilled` first",
				`If the pod is OOMKilled, raise its limit`, "A container is repeatedly OOMKilled (exit code 137). Walk me through it.",
				"which triggers the kernel's **OOMKilled (exit code 137)**.",
				`kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} 0`,
			},
			Also: []string{"kubernetes.exit_137"},
		},
		{
			Name:     "kubernetes.system_oom",
			Literals: []string{"System OOM encountered", "Created an OOM event in container"},
			Expr:     `(?:System OOM encountered, victim process: (?<comm>[^,\s]{1,64})(?:, pid: (?<pid>\d+))?|\bCreated an OOM event in container ")`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "kubelet pkg/kubelet/oom/oom_watcher_linux.go, cAdvisor manager/manager.go",
			Match: []pattern.Sample{
				{Line: `Warning  SystemOOM  6m57s  kubelet  System OOM encountered, victim process: python3, pid: 3419`, Want: parser.Fields{"comm": "python3", "pid": "3419"}},
				{Line: `Created an OOM event in container "/" at 2017-10-10 17:41:58.169863432 +0000 UTC`},
			},
			NoMatch: []string{`  "reason": "OOMKilling",`}, // the event's message holds the kernel's words; node-problem-detector's rules name the reason too
		},
		{
			Name:     "kubernetes.evicted",
			Program:  pattern.Program{Name: "kubernetes", Launcher: "k8s", Killer: "kubelet"},
			Literals: []string{"low on resource: memory"},
			Expr:     `node was low on resource: memory(?:\. Threshold quantity: \S{1,30}, available: (?<available_sz>\d+(?:[KMGTPE]i)?)(?=[.,\s]))?(?:.{0,200}?Container \S{1,253} was using (?<used_sz>\d+(?:[KMGTPE]i)?)(?=[.,\s]))?`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "kubelet pkg/kubelet/eviction/helpers.go; the threshold since 1.27",
			Match: []pattern.Sample{
				{Line: `The node was low on resource: memory. Threshold quantity: 100Mi, available: 87608Ki. Container trainer was using 48458972Ki, request is 15Gi, has larger consumption of memory. `, Want: parser.Fields{"available": "89710592", "used": "49621987328"}},
				{Line: `The node was low on resource: memory. Container trainer was using 30332Ki, which exceeds its request of 0.`, Want: parser.Fields{"used": "31059968"}},
				{Line: `The node was low on resource: memory.`},
			},
			NoMatch: []string{`The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi.`},
		},
		{
			Name:     "kubernetes.evicted_disk",
			Literals: []string{"low on resource: ephemeral-storage", "low on resource: inodes", "its local ephemeral storage limit", "Pod ephemeral local storage usage exceeds"},
			Expr:     `node was low on resource: (?:ephemeral-storage|inodes)\.|exceeded its local ephemeral storage limit "|Pod ephemeral local storage usage exceeds the total limit`,
			Kind:     parser.JobCancelled, Role: parser.Context, Set: map[string]string{"reason": "disk_full"},
			Source: "kubelet pkg/kubelet/eviction/helpers.go: it kills the containers of an evicted pod with exit code 137",
			Match: lines(
				`The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi.`,
				`Container trainer exceeded its local ephemeral storage limit "50Gi".`,
				`Pod ephemeral local storage usage exceeds the total limit of containers 50Gi.`,
			),
			NoMatch: []string{`The node was low on resource: memory.`},
		},
		{
			Name:     "kubernetes.node_memory",
			Literals: []string{"  memory:        "},
			Expr:     `^ {2}memory: {8,24}(?<host_total_sz>\d{6,12}Ki)$`,
			Gauge:    true, Source: "kubectl describe node: its capacity, then what pods may have of it",
			Match:   []pattern.Sample{{Line: "  memory:             1055826432Ki", Want: parser.Fields{"host_total": "1081166266368"}}},
			NoMatch: []string{"    memory: 900Gi", "  memory             900Gi (90%)  900Gi (90%)"},
		},
		{
			Name:     "kubernetes.memory_pressure",
			Literals: []string{"[MemoryPressure]"},
			Expr:     `node had condition: \[MemoryPressure\]`,
			Kind:     parser.Pressure, Role: parser.Context, Source: "kubelet pkg/kubelet/eviction/eviction_manager.go: the pod was not admitted",
			Match: lines(`Pod The node had condition: [MemoryPressure].`),
		},
		{
			Name:     "container.oom",
			Program:  pattern.Program{Name: "docker"},
			Literals: []string{"container oom ", "Container killed due to memory usage", `Exit Message: "OOM Killed"`},
			Expr:     `\bcontainer oom [0-9a-f]{12,64} \(|OutOfMemoryError: Container killed due to memory usage|Exit Message: "OOM Killed"`,
			Kind:     parser.OOMKill, Role: parser.Evidence, Source: "docker events; AWS Batch and ECS, the reason of a stopped task; Nomad, drivers/docker",
			Match: lines(
				"2024-02-02T10:10:10.123456789Z container oom 4f1c0d8c7a7b (image=trainer:latest, name=trainer)",
				"Container reason: OutOfMemoryError: Container killed due to memory usage",
				`2024-03-03T10:00:00Z  Terminated  Exit Code: 137, Exit Message: "OOM Killed"`,
			),
			Also: []string{"kubernetes.exit_137"},
		},
		{
			Name:     "docker.oom_killed",
			Program:  pattern.Program{Name: "docker", Killer: "kernel"},
			Literals: []string{`"OOMKilled": true`, `"OOMKilled":true`},
			Expr:     `"OOMKilled": ?true`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "docker inspect, State; Podman prints the same",
			Match:  lines(`            "OOMKilled": true,`, `"OOMKilled":true`),
		},
		{
			Name:     "docker.default_shm",
			Literals: []string{"docker run ", "podman run "},
			Expr: `^(?:\S{1,80}[$#] ?|\$ ?|\+ )?(?:sudo )?(?:docker|podman) run (?!.{0,4000}(?:--shm-size|--ipc\b|--tmpfs|--mount|/dev/shm|\\$|#|\$(?!PWD|HOME|\{PWD|\{HOME|\(pwd)))` +
				`(?=.{0,4000}\b(?:python3?|torchrun|deepspeed|accelerate|bash|sh|uv)\b)`,
			Program: pattern.Program{Name: "docker"},
			Gauge:   true, Set: map[string]string{"shm": "67108864"}, Source: "a whole command, as a shell shows it: without --shm-size, /dev/shm has 64 MB (docs.docker.com, docker container run)",
			Match: lines("$ docker run --gpus all -it --rm -v /data:/data -v $PWD:/w llava:cu117 bash scripts/train.sh", "+ sudo docker run --rm trainer python train.py", "root@n1:/w# docker run trainer torchrun train.py"),
			NoMatch: []string{
				"$ docker run --gpus all --shm-size 16g trainer python train.py", "$ docker run --ipc=host trainer python t.py", "$ docker run --gpus all \\", "use docker run with --gpus all and python",
				"$ docker run --rm --gpus all nvidia/cuda nvidia-smi", "# docker run trainer python train.py", "$ docker run $DOCKER_ARGS trainer python train.py",
				"$ docker run --mount type=bind,source=/dev/shm,target=/dev/shm trainer python t.py",
			},
		},
		{
			Name:     "docker.own_shm",
			Literals: []string{"--shm-size", "--ipc=host", "--ipc host"},
			Expr:     `(?:docker|podman) run .{0,4000}--(?:shm-size|ipc)\b`,
			Program:  pattern.Program{Name: "docker"},
			Gauge:    true, Set: map[string]string{"shm": "own"}, Source: "docs.docker.com, docker container run",
			Match: lines("$ docker run --gpus all --shm-size 16g trainer python train.py", "$ docker run --ipc=host trainer python t.py"),
		},
		{
			Name:     "docker.asked",
			Program:  pattern.Program{Name: "docker"},
			Literals: []string{"{{.State.OOMKilled}}"},
			Expr:     `\{\{\.State\.OOMKilled\}\}(?: \{\{\.State\.Status\}\})?(?: \{\{\.State\.ExitCode\}\})?(?! \{\{(?!\.HostConfig\.Memory\}))`,
			Gauge:    true, Source: "docker inspect -f, podman inspect -f: the command, which a shell's prompt or trace shows",
			Match:   lines("$ docker inspect -f '{{.State.OOMKilled}} {{.HostConfig.Memory}}' trainer", "+ podman inspect --format '{{.State.OOMKilled}}' trainer"),
			NoMatch: []string{"$ docker inspect -f '{{.State.Status}}' trainer"},
		},
		{
			Name:    "docker.answered",
			Program: pattern.Program{Name: "docker", Killer: "kernel"},
			After:   []string{"docker.asked"}, Within: 2,
			Expr: `^true(?: (?:exited|running|restarting|dead))?(?: 137)?(?: (?<limit_b>[1-9]\d{6,15}))?\s*$`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source:  "docker inspect -f, podman inspect -f: the answer",
			Match:   []pattern.Sample{{Line: "true 34359738368", Want: parser.Fields{"limit": "34359738368"}}, {Line: "true"}, {Line: "true 137 34359738368", Want: parser.Fields{"limit": "34359738368"}}, {Line: "true running 8589934592", Want: parser.Fields{"limit": "8589934592"}}},
			NoMatch: []string{"false 34359738368", "true, and 0"},
		},
		{
			Name:     "docker.memory_limit",
			Program:  pattern.Program{Name: "docker"},
			Literals: []string{"  \"Memory\": "},
			Expr:     `  "Memory": (?<limit_b>[1-9]\d{6,15})\b`,
			Kind:     parser.OOMKill, Role: parser.Detail,
			Source:  "docker inspect, HostConfig",
			Match:   []pattern.Sample{{Line: "            \"Memory\": 206158430208,", Want: parser.Fields{"limit": "206158430208"}}},
			NoMatch: []string{"            \"Memory\": 0,", "\"MemorySwap\": 206158430208,"},
		},
		{
			Name:    "kubernetes.exit_137",
			Program: pattern.Program{Name: "kubernetes", Killer: "kernel"}, // not the launcher: Docker and others print such lines, too
			Literals: []string{
				"Exit Code: ", "exit code 137", "exit code: 137", "xitCode: ", `xitCode":`, "with code 137", "status 137", "Exited (137)", "xitCode:137",
			},
			Expr: `(?:Exit Code: {1,12}(?<exitcode>137)\b|[Ee]xitCode"?: ?(?<exitcode>137)\b|(?<!\) |ssh )(?:terminated|completed|finished|failed|exited) with (?:non-zero )?(?:exit )?(?:code|status):? (?<exitcode>137)\b|^Exited with code (?<exitcode>137)\b|Exited \((?<exitcode>137)\)|" ?, exit code: (?<exitcode>137)\b)`,
			Kind: parser.OOMKill, Role: parser.Suspicion, Source: runtime + "; docker ps, docker compose, GitHub Actions, CircleCI, SageMaker's training jobs",
			Match: []pattern.Sample{
				{Line: `      Exit Code:    137`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `command terminated with exit code 137`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `trainer-1 exited with code 137`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `4f1c2a  trainer:latest  "python train.py"  Exited (137) 2 minutes ago`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `"exitCode": 137,`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `Exited with code 137`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `ExitCode:137,`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `Process completed with exit code 137.`, Want: parser.Fields{"exitcode": "137"}},
				{Line: `Command "/opt/conda/bin/python3.10 train.py", exit code: 137`, Want: parser.Fields{"exitcode": "137"}},
			},
			NoMatch: []string{`      Exit Code:    1`, `Exited with exit code 137.`, `exited with code 1370`},
		},
		{
			// Stands below Limits: and below Requests: alike. A reader must look at the header above.
			Name:     "kubernetes.memory_limit",
			Literals: []string{"    memory: ", `    "memory": `},
			Expr:     `^\s*    "?memory"?: +"?(?<limit_sz>\d+(?:\.\d+)?[KMGTPE]i?)"?,?\s*$`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: "kubectl describe pod, kubectl get -o yaml; Ki, Mi, Gi are powers of 1024",
			Match: []pattern.Sample{
				{Line: `      memory:          900Gi`, Want: parser.Fields{"limit": "966367641600"}},
				{Line: `        memory: 64Gi`, Want: parser.Fields{"limit": "68719476736"}},
				{Line: `                "memory": "512Mi",`, Want: parser.Fields{"limit": "536870912"}},
			},
			NoMatch: []string{`GPU memory: 64Gi used`, `memory: 900`, `memory: usage 153600kB, limit 153600kB, failcnt 0`},
		},
		{
			Name:     "kubernetes.limits",
			Literals: []string{"    Limits:", "    limits:", `    "limits":`},
			Expr:     `^\s*    (?:[Ll]imits|"limits"): *\{?\s*$`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: "kubectl describe pod: what follows are limits",
			Match: lines(`    Limits:`, `      limits:`, `    "limits": {`),
		},
		{
			Name:     "kubernetes.requests",
			Literals: []string{"    Requests:", "    requests:", `    "requests": {`},
			Expr:     `^\s*    (?:[Rr]equests:|"requests": \{)\s*$`,
			Kind:     parser.OOMKill, Role: parser.Detail, Source: "kubectl describe pod: what follows are requests, no limits",
			Match: lines(`    Requests:`, `      requests:`),
		},
		{
			Name:     "kubernetes.assigned",
			Literals: []string{"Successfully assigned ", "  nodeName: "},
			Expr:     `(?:Successfully assigned [\w./-]{1,300} to|^ {1,8}nodeName:) (?<host>[\w.-]{1,253})\s*$`,
			Marker:   "identity", Source: "kube-scheduler's event, kubectl get pod -o yaml",
			Match: []pattern.Sample{
				{Line: "31m         Normal    Scheduled            pod/train-worker-0    Successfully assigned vision/train-worker-0 to pool-17", Want: parser.Fields{"host": "pool-17"}},
				{Line: "  nodeName: pool-17", Want: parser.Fields{"host": "pool-17"}},
			},
		},
		{
			Name:     "kubernetes.node",
			Literals: []string{"Node:    "},
			Expr:     `^Node: {4,40}(?<host>[\w.-]{1,253})/[\da-fA-F.:]{2,45}\s*$`,
			Marker:   "identity", Source: "kubectl describe pod",
			Match:   []pattern.Sample{{Line: `Node:             gpu-pool-b-7f9c4/10.8.0.14`, Want: parser.Fields{"host": "gpu-pool-b-7f9c4"}}},
			NoMatch: []string{`Node-Selectors:              <none>`},
		},
	}
}
