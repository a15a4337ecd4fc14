package parser

// kubernetesPatterns are what kubectl, the kubelet and container runtimes tell about a container: its end, its limit,
// its eviction. Field pod is the pod's name.
func kubernetesPatterns() []Pattern {
	const runtime = "kubectl describe and get, docker inspect; CRI sets the reason from the cgroup's oom_kill counter"
	return []Pattern{
		{
			// "OOMKilled": false is what every healthy container says.
			Name:    "kubernetes.oom_killed",
			Needles: []string{"OOMKilled"},
			Expr:    `(?:[Rr]eason"?\\?"?: *\\?"?OOMKilled\b|"OOMKilled": ?true|OOMKilled \(exit code (?<exitcode>\d+)\)|^(?<pod>[a-z0-9][\w.-]{0,252}) +\d+/\d+ +(?:Init:)?OOMKilled\b)`,
			Kind:    OOMKill, Role: Evidence, Source: runtime + "; Argo",
			Match: []Sample{
				{`      Reason:       OOMKilled`, Fields{}},
				{`        "reason": "OOMKilled",`, Fields{}},
				{`            "OOMKilled": true,`, Fields{}},
				{`sft-worker-0                       0/1     OOMKilled          2 (31s ago)   5m`, Fields{"pod": "sft-worker-0"}},
				{`sft-worker-3     0/1     OOMKilled   0          12m`, Fields{"pod": "sft-worker-3"}},
				{`Error: OOMKilled (exit code 137)`, Fields{"exitcode": "137"}},
			},
			NoMatch: []string{
				`            "OOMKilled": false,`, `If the pod is OOMKilled, raise its limit`,
				`kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} 0`,
			},
			Also: []string{"kubernetes.exit_137"},
		},
		{
			Name:    "kubernetes.system_oom",
			Needles: []string{"System OOM encountered", `"OOMKilling"`},
			Expr:    `(?:System OOM encountered, victim process: (?<comm>[^,\s]{1,64})(?:, pid: (?<pid>\d+))?|"reason": ?"OOMKilling")`,
			Kind:    OOMKill, Role: Evidence, Source: "kubelet pkg/kubelet/oom/oom_watcher_linux.go; node-problem-detector config/kernel-monitor.json",
			Match: []Sample{
				{`Warning  SystemOOM  6m57s  kubelet  System OOM encountered, victim process: python3, pid: 3419`, Fields{"comm": "python3", "pid": "3419"}},
				{`  "reason": "OOMKilling",`, Fields{}},
			},
		},
		{
			Name:    "kubernetes.evicted",
			Needles: []string{"low on resource: memory"},
			Expr:    `node was low on resource: memory(?:\. Threshold quantity: \S{1,30}, available: (?<available_sz>\d+(?:[KMGTPE]i)?)(?=[.,\s]))?(?:.{0,200}?Container \S{1,253} was using (?<used_sz>\d+(?:[KMGTPE]i)?)(?=[.,\s]))?`,
			Kind:    OOMKill, Role: Evidence, Source: "kubelet pkg/kubelet/eviction/helpers.go; the threshold since 1.27",
			Match: []Sample{
				{`The node was low on resource: memory. Threshold quantity: 100Mi, available: 87608Ki. Container trainer was using 48458972Ki, request is 15Gi, has larger consumption of memory. `, Fields{"available": "89710592", "used": "49621987328"}},
				{`The node was low on resource: memory. Container trainer was using 30332Ki, which exceeds its request of 0.`, Fields{"used": "31059968"}},
				{`The node was low on resource: memory.`, Fields{}},
			},
			NoMatch: []string{`The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi.`},
		},
		{
			Name:    "kubernetes.memory_pressure",
			Needles: []string{"[MemoryPressure]"},
			Expr:    `node had condition: \[MemoryPressure\]`,
			Kind:    Pressure, Role: Context, Source: "kubelet pkg/kubelet/eviction/eviction_manager.go: the pod was not admitted",
			Match: []Sample{{`Pod The node had condition: [MemoryPressure].`, Fields{}}},
		},
		{
			Name:    "docker.memory_limit",
			Needles: []string{"  \"Memory\": "},
			Expr:    `  "Memory": (?<limit_b>[1-9]\d{6,15})\b`,
			Kind:    OOMKill, Role: Detail,
			Source:  "docker inspect, HostConfig",
			Match:   []Sample{{"            \"Memory\": 206158430208,", Fields{"limit": "206158430208"}}},
			NoMatch: []string{"            \"Memory\": 0,", "\"MemorySwap\": 206158430208,"},
		},
		{
			Name: "kubernetes.exit_137",
			Needles: []string{
				"Exit Code: ", "exit code 137", "exit code: 137", "xitCode: ", `xitCode":`, "with code 137", "status 137", "Exited (137)",
			},
			Expr: `(?:Exit Code: {1,12}(?<exitcode>137)\b|[Ee]xitCode"?: ?(?<exitcode>137)\b|(?<!\) |ssh )(?:terminated|completed|finished|failed|exited) with (?:non-zero )?(?:exit )?(?:code|status):? (?<exitcode>137)\b|Exited \((?<exitcode>137)\)|" ?, exit code: (?<exitcode>137)\b)`,
			Kind: OOMKill, Role: Suspicion, Source: runtime + "; docker ps, docker compose, GitHub Actions, SageMaker's training jobs",
			Match: []Sample{
				{`      Exit Code:    137`, Fields{"exitcode": "137"}},
				{`command terminated with exit code 137`, Fields{"exitcode": "137"}},
				{`trainer-1 exited with code 137`, Fields{"exitcode": "137"}},
				{`4f1c2a  trainer:latest  "python train.py"  Exited (137) 2 minutes ago`, Fields{"exitcode": "137"}},
				{`"exitCode": 137,`, Fields{"exitcode": "137"}},
				{`Process completed with exit code 137.`, Fields{"exitcode": "137"}},
				{`Command "/opt/conda/bin/python3.10 train.py", exit code: 137`, Fields{"exitcode": "137"}},
			},
			NoMatch: []string{`      Exit Code:    1`, `srun: error: node02: task 2: Exited with exit code 137`, `exited with code 1370`, `task 0 (7578) exited with exit code 137.`},
		},
		{
			// Stands below Limits: and below Requests: alike. A reader must look at the header above.
			Name:    "kubernetes.memory_limit",
			Needles: []string{"    memory: ", `    "memory": `},
			Expr:    `^\s*    "?memory"?: +"?(?<limit_sz>\d+(?:\.\d+)?[KMGTPE]i)"?,?\s*$`,
			Kind:    OOMKill, Role: Detail, Source: "kubectl describe pod, kubectl get -o yaml; Ki, Mi, Gi are powers of 1024",
			Match: []Sample{
				{`      memory:          900Gi`, Fields{"limit": "966367641600"}},
				{`        memory: 64Gi`, Fields{"limit": "68719476736"}},
				{`                "memory": "512Mi",`, Fields{"limit": "536870912"}},
			},
			NoMatch: []string{`GPU memory: 64Gi used`, `memory: 900`, `memory: usage 153600kB, limit 153600kB, failcnt 0`},
		},
		{
			Name:    "kubernetes.limits",
			Needles: []string{"    Limits:", "    limits:", `    "limits":`},
			Expr:    `^\s*    (?:[Ll]imits|"limits"): *\{?\s*$`,
			Kind:    OOMKill, Role: Detail, Source: "kubectl describe pod: what follows are limits",
			Match: []Sample{{`    Limits:`, Fields{}}, {`      limits:`, Fields{}}, {`    "limits": {`, Fields{}}},
		},
		{
			Name:    "kubernetes.requests",
			Needles: []string{"    Requests:", "    requests:", `    "requests": {`},
			Expr:    `^\s*    (?:[Rr]equests:|"requests": \{)\s*$`,
			Kind:    OOMKill, Role: Detail, Source: "kubectl describe pod: what follows are requests, no limits",
			Match: []Sample{{`    Requests:`, Fields{}}, {`      requests:`, Fields{}}},
		},
		{
			Name:    "kubernetes.assigned",
			Needles: []string{"Successfully assigned ", "  nodeName: "},
			Expr:    `(?:Successfully assigned [\w./-]{1,300} to|^ {1,8}nodeName:) (?<host>[\w.-]{1,253})\s*$`,
			Marker:  "identity", Source: "kube-scheduler's event, kubectl get pod -o yaml",
			Match: []Sample{
				{"31m         Normal    Scheduled            pod/train-worker-0    Successfully assigned vision/train-worker-0 to pool-17", Fields{"host": "pool-17"}},
				{"  nodeName: pool-17", Fields{"host": "pool-17"}},
			},
		},
		{
			Name:    "kubernetes.node",
			Needles: []string{"Node:    "},
			Expr:    `^Node: {4,40}(?<host>[\w.-]{1,253})/[\da-fA-F.:]{2,45}\s*$`,
			Marker:  "identity", Source: "kubectl describe pod",
			Match:   []Sample{{`Node:             gpu-pool-b-7f9c4/10.8.0.14`, Fields{"host": "gpu-pool-b-7f9c4"}}},
			NoMatch: []string{`Node-Selectors:              <none>`},
		},
	}
}
