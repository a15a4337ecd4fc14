package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// rayPatterns are the words of Ray: memory monitor, actor deaths, object store.
//
// Ray writes "GB" for 2^30 bytes. Of a kill, "used" and "limit" are those of the node (or of Ray's cgroup), "process" is
// what the killed worker used, "cmd" the task or actor method that Ray names. The class OutOfMemoryError is Ray's own
// here and says nothing of a GPU; a RayTaskError line repeats its cause and proves nothing.
var rayPatterns = by(pattern.Program{Name: "ray", Launcher: "ray", Killer: "ray"}, rayMonitor, rayObjectStore, rayDeaths, rayTune, rayIdentity)

// rayMonitor is the memory monitor, which kills workers before the kernel would.
func rayMonitor() []pattern.Pattern {
	const src = "Ray 2.0-2.56, src/ray/raylet/node_manager.cc"
	return []pattern.Pattern{
		{
			// To 2.48 "where the task (..) was running was", then "lease", since 2.5x without, and with the killed
			// worker behind, on the same line or on lines of its own. "retries" means that Ray tries again.
			Name:     "ray.memory_monitor",
			Literals: []string{"Memory on the node (IP: "},
			Expr: `(?:There are (?<retries>\d+|infinite) oom retries remaining[^\n]{0,200}?)?` +
				`Memory on the node \(IP: (?<host>[^,)\s]{1,64})(?:, ID: (?<node>[0-9a-f]{1,64}))?\) ` +
				`(?:where the (?:task|lease|actor)(?: \((?:task ID|actor ID|lease ID): [0-9a-fA-F]{1,80}, name=(?<cmd>[^\n]{1,200}?), ` +
				`pid=(?<pid>\d{1,10}), memory used=(?<process_sz>\d+(?:\.\d+)? ?[KMGT]?i?B)\))? was running )?` +
				`was (?<used_sz>\d+(?:\.\d+)? ?GB) / (?<limit_sz>\d+(?:\.\d+)? ?GB)(?: \((?<fraction>\d+(?:\.\d+)?)\))?` +
				`(?:, which exceeds the memory usage threshold of (?<threshold>\d+(?:\.\d+)?))?` +
				`(?:[^\n]{0,3000}?\(Task: [^\n]{0,200}?task name=(?<cmd>[^\n]{1,200}?), required resources=\{[^}\n]{0,200}\}, ` +
				`pid=(?<pid>\d{1,10}), actual memory used=(?<process_sz>\d+(?:\.\d+)? ?GB))?`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: src + "; pull requests 29341 and 30312",
			Match: []pattern.Sample{
				{
					Line: "Memory on the node (IP: 10.42.3.17, ID: 8289f87b78d1) where the task (task ID: 41617bc740ae, name=ReadParquet->SplitBlocks(8), pid=4907, " +
						"memory used=52.25GB) was running was 239.50GB / 251.50GB (0.951734), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: d98a)",
					Want: parser.Fields{
						"host": "10.42.3.17", "node": "8289f87b78d1", "cmd": "ReadParquet->SplitBlocks(8)", "pid": "4907", "process": "56103010304",
						"used": "257161166848", "limit": "270046068736", "fraction": "0.951734", "threshold": "0.95",
					},
				},
				{
					Line: "Memory on the node (IP: 172.17.0.2, ID: 3a4b60) where the task was running was 32.50GB / 33.25GB (0.977449), which exceeds the memory usage threshold of 0.969955. Ray killed",
					Want: parser.Fields{
						"host": "172.17.0.2", "node": "3a4b60", "used": "34896609280", "limit": "35701915648", "fraction": "0.977449", "threshold": "0.969955",
					},
				},
				{
					Line: "Memory on the node (IP: 10.0.0.9, ID: ab) where the lease (lease ID: 0f00, name=Actor.run, pid=77, memory used=0.50GB) was running was 61.00GB / 64.00GB (0.953125), which exceeds",
					Want: parser.Fields{
						"host": "10.0.0.9", "node": "ab", "cmd": "Actor.run", "pid": "77", "process": "536870912", "used": "65498251264",
						"limit": "68719476736", "fraction": "0.953125",
					},
				},
				{
					Line: "Task m failed due to oom. There are infinite oom retries remaining, so the task will be retried. Error: 1 worker(s) were killed due to the " +
						"node running low on memory. Memory on the node (IP: 10.0.50.112, ID: 4cb2) was 28.50GB / 30.00GB (0.950000), which exceeds the memory usage threshold of 0.950000; " +
						"Object store memory usage: [- objects spillable: 0]; Ray killed 1 worker(s) based on the killing policy: [(Task: job ID=05, lease ID=2f, " +
						"task name=ReadRange->MapBatches(f), required resources={memory: 8, CPU: 1}, pid=3471, actual memory used=2.75GB, worker ID=8150)]",
					Want: parser.Fields{
						"retries": "infinite", "host": "10.0.50.112", "node": "4cb2", "used": "30601641984", "limit": "32212254720", "fraction": "0.950000",
						"threshold": "0.950000", "cmd": "ReadRange->MapBatches(f)", "pid": "3471", "process": "2952790016",
					},
				},
				{
					Line: "1 worker(s) were killed due to the node running low on memory. Memory on the node (IP: 10.80.244.19) was 957.00GB / 1007.00GB (0.950240)",
					Want: parser.Fields{"host": "10.80.244.19", "used": "1027570925568", "limit": "1081258016768", "fraction": "0.950240"},
				},
			},
			NoMatch: []string{"use `ray logs raylet.out -ip 10.42.3.17` to see more information about memory usage on this node"},
		},
		{
			// The first wording, of the raylet itself. It kills the task or actor that began last.
			Name:     "ray.low_at_node",
			Literals: []string{"System memory low at node with IP "},
			Expr: `System memory low at node with IP (?<host>[^\s]{1,64}?)\. Used memory \((?<used_sz>\d+(?:\.\d+)? ?GB)\) / total capacity \((?<limit_sz>\d+(?:\.\d+)? ?GB)\)` +
				`(?: \((?<fraction>\d+(?:\.\d+)?)\))?(?: exceeds threshold (?<threshold>\d+(?:\.\d+)?))?, killing latest (?:task|actor)` +
				`(?: with name (?<cmd>[^\n]{1,200}?)(?: and actor ID [0-9a-f]{1,64})? to avoid running out of memory)?`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: "Ray 2.0 and its nightly builds, src/ray/raylet/node_manager.cc [ray issue 27716]",
			Match: []pattern.Sample{
				{
					Line: "System memory low at node with IP 10.4.0.7. Used memory (46.50GB) / total capacity (62.00GB) (0.750000) exceeds threshold 0.75, " +
						"killing latest task with name learner:Learner.update and actor ID dc0d34f19836 to avoid running out of memory.",
					Want: parser.Fields{
						"host": "10.4.0.7", "used": "49928994816", "limit": "66571993088", "fraction": "0.750000", "threshold": "0.75", "cmd": "learner:Learner.update",
					},
				},
				{
					Line: "System memory low at node with IP 10.4.0.7. Used memory (46.50GB) / total capacity (62.00GB) (0.750000) exceeds threshold 0.75, " +
						"killing latest task with name load_shard to avoid running out of memory.",
					Want: parser.Fields{"host": "10.4.0.7", "used": "49928994816", "limit": "66571993088", "fraction": "0.750000", "threshold": "0.75", "cmd": "load_shard"},
				},
			},
			NoMatch: []string{"This may indicate a memory leak in a task or actor, or that too many tasks are running in parallel."},
		},
		{
			Name:     "ray.low_memory",
			Literals: []string{"killed due to the node running low on memory"},
			Expr: `(?<!exit_detail = )(?<!Worker exit detail: )(?:Task was|(?<count>\d{1,6}) worker\(s\) were) killed due to the node running low on memory` +
				`(?!\.? {0,4}Memory on the node \(IP)`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: src + ", python/ray/exceptions.py",
			Match: []pattern.Sample{
				{Line: "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory."},
				{Line: "ray.exceptions.OutOfMemoryError: 2 worker(s) were killed due to the node running low on memory.", Want: parser.Fields{"count": "2"}},
			},
			NoMatch: []string{"Memory usage above threshold. Still waiting for worker eviction to free up memory."},
		},
		{
			// The last sentences of the same text: all that is left of it where a log was cut at its head, as `ray job logs` and the
			// status of a job are. The raylet's own sum gives the same advice without the retries.
			Name:     "ray.memory_advice",
			Literals: []string{"address the out of memory issue: "},
			Expr: `address the out of memory issue: https?://\S{1,200}ray-oom-prevention\.html.{0,300}` +
				`\bSet max_(?:restarts and max_task_retries|retries) to enable retry when the task crashes due to OOM`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: src + " CreateOomKillMessageSuggestions; only of a worker that the monitor killed",
			Match: lines(
				"Refer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html. Consider "+
					"provisioning more memory on this node or reducing task parallelism by requesting more CPUs per task. Set max_restarts and max_task_retries to enable retry "+
					"when the task crashes due to OOM. To adjust the kill threshold, set the environment variable `RAY_memory_usage_threshold` when starting Ray.",
				"address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html. Consider provisioning more memory on this node. "+
					"Set max_retries to enable retry when the task crashes due to OOM. To",
			),
			NoMatch: []string{
				"Refer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html. Consider provisioning " +
					"more memory on this node or reducing task parallelism by requesting more CPUs per task. To adjust the kill threshold, set the environment variable `RAY_memory_usage_threshold`",
				"Set max_restarts and max_task_retries to enable retry when the task crashes due to OOM.",
				"See how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html",
			},
		},
		{
			Name:     "ray.killed_worker",
			Literals: []string{"Selected to kill: (", "[(Task: job ID="},
			Expr: `(?:Selected to kill: \(|^\s*\[\()(?:Task|Actor)[^\n]{0,200}?(?:task name=(?<cmd>[^\n]{1,200}?), )?(?:required resources=\{[^}\n]{0,200}\}, )?` +
				`pid=(?<pid>\d{1,10}), actual memory used=(?<process_sz>\d+(?:\.\d+)? ?GB)`,
			Kind: parser.OOMKill, Role: parser.Detail,
			Source: src + " (2.5x)",
			Match: []pattern.Sample{
				{
					Line: "Selected to kill: (Task: job ID=01000000, lease ID=06ff, task name=hippo, required resources={CPU: 1}, pid=3310152, actual memory used=21.50GB, worker ID=3e3d)",
					Want: parser.Fields{"cmd": "hippo", "pid": "3310152", "process": "23085449216"},
				},
				{
					Line: "[(Task: job ID=05, lease ID=2f, task name=f, required resources={}, pid=478, actual memory used=12.25GB, worker ID=8150)]",
					Want: parser.Fields{"cmd": "f", "pid": "478", "process": "13153337344"},
				},
			},
			NoMatch: []string{"(Task: job ID=01, lease ID=05, task name=hippo, required resources={CPU: 1}, pid=3, actual memory used=21.95GB, worker ID=34)"},
		},
		{
			// A row of the table of the ten biggest processes: what the killed pid was doing.
			Name:  "ray.top_process",
			After: []string{"ray.memory_monitor", "ray.low_memory", "ray.killed_worker", "ray.old_monitor", "ray.above_threshold"}, Within: 16,
			Expr: `^\s*(?<pid>\d{1,10})[\t ]{1,10}(?<process_gib>\d{1,6}\.\d{1,3})(?:Gi?B)?[\t ]{1,10}(?:(?:/[\w./+-]{1,200}/)?python[\d.]{0,6} -c from (?<cmd>multiprocessing\.spawn) import spawn_main; spawn_main\([^\t\n]{1,200}|(?<cmd>(?:ray::|python|VLLM::|sglang::|pt_data_worker)[^\t\n]{0,300}?)\s*)$`,
			Kind: parser.OOMKill, Role: parser.Detail,
			Source: "Ray 1.x-2.5x, src/ray/common/memory_monitor.cc, python/ray/_private/memory_monitor.py; vLLM's, SGLang's and PyTorch's names of their processes",
			Match: []pattern.Sample{
				{
					Line: "290426\t60.25\tray::WorkerDict.actor_rollout_generate_sequences",
					Want: parser.Fields{"pid": "290426", "process": "64692944896", "cmd": "ray::WorkerDict.actor_rollout_generate_sequences"},
				},
				{
					Line: "41877\t22.50\t/usr/bin/python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=98, pipe_handle=110) --multiprocessing-fork",
					Want: parser.Fields{"pid": "41877", "process": "24159191040", "cmd": "multiprocessing.spawn"},
				},
				{Line: "40312\t166.50\tpt_data_worker", Want: parser.Fields{"pid": "40312", "process": "178778013696", "cmd": "pt_data_worker"}},
				{Line: "3131\t11.50\tVLLM::Worker_TP0", Want: parser.Fields{"pid": "3131", "process": "12348030976", "cmd": "VLLM::Worker_TP0"}},
				{Line: "11474   26.50GiB    ray::MARWIL", Want: parser.Fields{"pid": "11474", "process": "28454158336", "cmd": "ray::MARWIL"}},
			},
			NoMatch: []string{"PID\tMEM(GB)\tCOMMAND", "ray.exceptions.RayTaskError: ray::f() (pid=3300, ip=10.0.0.5)", "19777\t0.30\t/usr/local/lib/python3.10/dist-packages/ray/core/src/ray/raylet/raylet --raylet_socket_name"},
		},
		{
			// Printed once a minute; the count is that of the period.
			Name:     "ray.raylet_sum",
			Literals: []string{"killed due to memory pressure (OOM)"},
			Expr: `(?<count>[1-9]\d{0,8}) Workers \(tasks / actors\) killed due to memory pressure \(OOM\)` +
				`(?:, \d{1,9} Workers crashed due to other reasons at node \(ID: (?<node>[0-9a-f]{1,64}), IP: (?<host>[^,)\s]{1,64})\))?`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: src,
			Match: []pattern.Sample{{
				Line: "3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 8289f8, IP: 10.42.3.17) over the last time period.",
				Want: parser.Fields{"count": "3", "node": "8289f8", "host": "10.42.3.17"},
			}},
			NoMatch: []string{
				"0 Workers crashed due to other reasons",
				"0 Workers (tasks / actors) killed due to memory pressure (OOM), 2 Workers crashed due to other reasons at node (ID: 8289f8, IP: 10.42.3.17) over the last time period.",
			},
		},
		{
			Name:     "ray.node_out_of_memory",
			Literals: []string{"NODE_OUT_OF_MEMORY"},
			Expr: `(?:Worker IP address: (?<host>\S{1,64}) [^\n]{0,60}?Worker PID: (?<pid>\d{1,10}) )?` +
				`(?:exit_type = |[Ww]orker exit type: ?|exit_type: ?"?)NODE_OUT_OF_MEMORY`,
			Kind: parser.OOMKill, Role: parser.Evidence,
			Source: "Ray 2.x, src/ray/gcs/gcs_server/gcs_worker_manager.cc, python/ray/exceptions.py",
			Match: []pattern.Sample{
				{Line: "Reporting worker exit, worker id = 0f76, node id = 8c5a, address = 172.17.0.2, exit_type = NODE_OUT_OF_MEMORY, " +
					"exit_detail = Task was killed due to the node running low on memory."},
				{
					Line: "A worker died or was killed while executing a task by an unexpected system error. Worker IP address: 10.0.0.4 Worker port: 10002 Worker PID: 915 " +
						"Worker exit type: NODE_OUT_OF_MEMORY Worker exit detail: Task was killed due to the node running low on memory.",
					Want: parser.Fields{"host": "10.0.0.4", "pid": "915"},
				},
			},
			NoMatch: []string{"Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2."},
		},
		{
			Name:     "ray.old_monitor",
			Literals: []string{"of the memory on node"},
			Expr:     `More than \d{1,3}% of the memory on node(?: (?<host>\S{1,128}) is used \((?<used_gib>\d+(?:\.\d+)?) / (?<limit_gib>\d+(?:\.\d+)?) GB\)|\s*$)`,
			Kind:     parser.OOMKill, Role: parser.Evidence,
			Source: "Ray 0.6-2.1, python/ray/_private/memory_monitor.py: raised by a worker before the kernel kills one",
			Match: []pattern.Sample{{
				Line: "ray._private.memory_monitor.RayOutOfMemoryError: More than 95% of the memory on node suwi is used (30.50 / 31.25 GB). The top 10 memory consumers are:",
				Want: parser.Fields{"host": "suwi", "used": "32749125632", "limit": "33554432000"},
			}},
			NoMatch: []string{"More than 95% of the samples are used"},
		},
		{
			// The worker that saw the full node: the exception ends its task.
			Name:     "ray.old_monitor_task",
			Literals: []string{"RayTaskError(RayOutOfMemoryError): "},
			Expr:     `RayTaskError\(RayOutOfMemoryError\): (?<cmd>ray::[^\s(]{1,200}\(\)) \(pid=(?<pid>\d{1,10})(?:, ip=(?<host>[^,)\s]{1,64}))?`,
			Kind:     parser.OOMKill, Role: parser.Detail,
			Source: "Ray 0.8-2.1, python/ray/exceptions.py RayTaskError",
			Match: []pattern.Sample{{
				Line: "ray.exceptions.RayTaskError(RayOutOfMemoryError): ray::shuffle() (pid=20431, ip=10.9.1.5)",
				Want: parser.Fields{"cmd": "ray::shuffle()", "pid": "20431", "host": "10.9.1.5"},
			}},
			NoMatch: []string{"ray.exceptions.RayTaskError(ValueError): ray::shuffle() (pid=20431, ip=10.9.1.5)"},
		},
		{
			Name:     "ray.above_threshold",
			Literals: []string{"emory usage above threshold"},
			Expr: `(?:Memory usage above threshold\. Still waiting for worker eviction|Node memory usage above threshold` +
				`(?:, used: (?<used_b>\d{1,18}), total: (?<limit_b>\d{1,18}), usage fraction: (?<fraction>\d+(?:\.\d+)?), threshold: (?<threshold>\d+(?:\.\d+)?))?)`,
			Kind: parser.Pressure, Role: parser.Context,
			Source: "Ray 2.x, src/ray/common/memory_monitor.cc",
			Match: []pattern.Sample{
				{Line: "Memory usage above threshold. Still waiting for worker eviction to free up memory. worker pid: 12"},
				{
					Line: "Node memory usage above threshold, used: 25104216064, total: 35738255360, usage fraction: 0.702447, threshold: 0.7",
					Want: parser.Fields{"used": "25104216064", "limit": "35738255360", "fraction": "0.702447", "threshold": "0.7"},
				},
			},
			NoMatch: []string{"export RAY_memory_usage_threshold=0.98"},
		},
	}
}

// rayObjectStore is the store in /dev/shm running full.
func rayObjectStore() []pattern.Pattern {
	const src = "Ray 1.x-2.x, src/ray/core_worker/store_provider/plasma_store_provider.cc, python/ray/exceptions.py"
	return []pattern.Pattern{
		{
			Name:     "ray.object_store_full",
			Literals: []string{"in object store because it is full"},
			Expr:     `Failed to put object [0-9a-f]{1,80} in object store because it is full(?:\. Object size is (?<requested_b>\d{1,18}) bytes)?`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: src,
			Match: []pattern.Sample{{
				Line: "ray.exceptions.ObjectStoreFullError: Failed to put object 00ffffff0100 in object store because it is full. Object size is 4294967552 bytes.",
				Want: parser.Fields{"requested": "4294967552"},
			}},
			NoMatch: []string{
				"ray.exceptions.OutOfDiskError: Local disk is full",
				"WARNING: The object store is using /tmp instead of /dev/shm because /dev/shm has only 67108864 bytes available.",
				"Spilled 4096 MiB, 120 objects, write throughput 1402 MiB/s.",
			},
		},
		{
			// Ray refuses to start. The same words without an exception are a warning.
			Name:     "ray.object_store_too_large",
			Literals: []string{"object store size exceeds the capacity of /dev/shm", " GB) exceeds /dev/shm size ("},
			Expr:     `ValueError: The configured object store size (?:exceeds the capacity of (?<path>/dev/shm)\.|\(\d{1,9}(?:\.\d{1,9})? GB\) exceeds (?<path>/dev/shm) size \(\d{1,9}(?:\.\d{1,9})? GB\)\.)`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "init",
			Source: "Ray 1.0-2.54, python/ray/_private/services.py determine_plasma_store_config; with sizes since 2.0",
			Match: []pattern.Sample{
				{
					Line: "ValueError: The configured object store size exceeds the capacity of /dev/shm. This will harm performance. Consider deleting files in /dev/shm or increasing its size with",
					Want: parser.Fields{"path": "/dev/shm"},
				},
				{
					Line: "ValueError: The configured object store size (15.032385536 GB) exceeds /dev/shm size (4.500000768 GB). This will harm performance.",
					Want: parser.Fields{"path": "/dev/shm"},
				},
			},
			NoMatch: []string{`    "The configured object store size exceeds the capacity of /dev/shm. "`},
		},
		{
			Name:     "ray.object_store_pinned",
			Literals: []string{"local object store is full of objects"},
			Expr:     `The local object store is full of objects that are still in scope`,
			Kind:     parser.HostOOM, Role: parser.Detail,
			Source:  src,
			Match:   lines("The local object store is full of objects that are still in scope and cannot be evicted. Tip: Use the `ray memory` command"),
			NoMatch: []string{"The local disk is full"},
		},
	}
}

// rayDeaths are ends that Ray cannot explain. Its text names the kernel's OOM killer as one of three possible reasons
// of every crash: that is no evidence.
func rayDeaths() []pattern.Pattern {
	const src = "Ray 2.x, src/ray/core_worker/task_manager.cc, python/ray/exceptions.py"
	return []pattern.Pattern{
		{
			Name:     "ray.worker_died",
			Literals: []string{"A worker died or was killed while executing", "The worker died unexpectedly while executing"},
			Expr: `(?:A worker died or was killed while executing a task by an unexpected system error` +
				`(?![^\n]{0,2000}Worker exit type: NODE_OUT_OF_MEMORY)` +
				`(?:[^\n]{0,600}?Worker IP address: (?<host>\S{1,64}) Worker port: \d{1,6} Worker PID: (?<pid>\d{1,10}) Worker exit type: (?<reason>[A-Z_]{1,40}))?` +
				`(?: Worker exit detail: Worker exits with an exit code (?<exitcode>-?\d{1,3}))?` +
				`|The worker died unexpectedly while executing this task)`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match: []pattern.Sample{
				{
					Line: "A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. " +
						"RayTask ID: c0af Worker ID: aa Node ID: bb Worker IP address: 10.40.0.12 Worker port: 10007 Worker PID: 9503 Worker exit type: SYSTEM_ERROR " +
						"Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.",
					Want: parser.Fields{"host": "10.40.0.12", "pid": "9503", "reason": "SYSTEM_ERROR"},
				},
				{
					Line: "A worker died or was killed while executing a task by an unexpected system error. Worker IP address: 10.0.0.1 Worker port: 1 Worker PID: 7 " +
						"Worker exit type: USER_ERROR Worker exit detail: Worker exits with an exit code 1. The worker may have exceeded K8s pod memory limits.",
					Want: parser.Fields{"host": "10.0.0.1", "pid": "7", "reason": "USER_ERROR", "exitcode": "1"},
				},
				{Line: "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task. Check python-core-worker-*.log files"},
			},
			NoMatch: []string{"DataLoader worker (pid 912) exited unexpectedly with exit code 1."},
		},
		{
			Name:     "rlinf.failed",
			Literals: []string{"Exception occurred while running "},
			Expr:     `Exception occurred while running (?<comm>\w{1,80})'s function (?<method>\w{1,80}): exception is `,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source: "RLinf, rlinf/scheduler/worker/worker_group.py",
			Match: []pattern.Sample{{
				Line: "Exception occurred while running RolloutWorker's function sync_model_from_actor: exception is The actor died unexpectedly before finishing this task.",
				Want: parser.Fields{"comm": "RolloutWorker", "method": "sync_model_from_actor"},
			}},
			Also: []string{"ray.actor_died"},
		},
		{
			Name: "ray.actor_died",
			Literals: []string{
				"The actor died unexpectedly before finishing", "The actor died because of an error raised in its creation",
				"The actor is dead because ", "Owner's node has crashed", "The actor is temporarily unavailable",
			},
			Expr: `(?:The actor died (?:unexpectedly before finishing this task|because of an error raised in its creation task)` +
				"|The actor is dead because (?![^\n]{0,300}NODE_OUT_OF_MEMORY)(?:it was killed by `(?<reason>ray\\.kill)`|[a-z ]{1,80})" +
				`(?:\. Worker exit type: (?<reason>[A-Z_]{1,40}))?` +
				`(?: Worker exit detail: Worker exits with an exit code (?<exitcode>-?\d{1,3}))?` +
				`|The actor is temporarily unavailable|Owner's node has crashed)`,
			Kind: parser.ProcessExit, Role: parser.Consequence,
			Source: src,
			Match: []pattern.Sample{
				{Line: "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task."},
				{
					Line: "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2.",
					Want: parser.Fields{"reason": "SYSTEM_ERROR"},
				},
				{Line: "The actor is dead because it was killed by `ray.kill`.", Want: parser.Fields{"reason": "ray.kill"}},
				{Line: "ray.exceptions.RayActorError: The actor died because of an error raised in its creation task, ray::SGLangEngine.__init__() (pid=5)"},
			},
			NoMatch: []string{
				"The actor is alive",
				"The actor is dead because its worker process has died. Worker exit type: NODE_OUT_OF_MEMORY Worker exit detail: Task was killed due to the node running low on memory.",
			},
		},
		{
			Name:  "ray.actor_died_fields",
			After: []string{"ray.actor_died"}, Within: 10,
			Expr: `^[\t ]{1,12}(?:class_name: (?<comm>\S{1,200})|pid: (?<pid>\d{1,10})|ip: (?<host>[0-9a-f][0-9a-fA-F.:]{1,44}))\s*$`,
			Kind: parser.ProcessExit, Role: parser.Detail,
			Source: "Ray 2.x, python/ray/exceptions.py ActorDiedError.__init__",
			Match: []pattern.Sample{
				{Line: "\tpid: 9503", Want: parser.Fields{"pid": "9503"}},
				{Line: "\tip: 10.40.0.12", Want: parser.Fields{"host": "10.40.0.12"}},
				{Line: "        class_name: LLMRayActor", Want: parser.Fields{"comm": "LLMRayActor"}},
			},
			NoMatch: []string{"pid: 9503", "  pid: unknown"},
		},
		{
			Name:     "ray.train_rank",
			Literals: []string{") world_rank="},
			Expr:     `\(ip=(?<host>[^,)\s]{1,64}), pid=(?<pid>\d{1,10})\) world_rank=(?<rank>\d{1,6})`,
			Marker:   "identity", Source: "Ray Train 2.x, train/_internal/backend_executor.py, train/v2 worker_group.py",
			Match:   []pattern.Sample{{Line: "- (ip=10.3.0.9, pid=5503) world_rank=3, local_rank=1, node_rank=1", Want: parser.Fields{"host": "10.3.0.9", "pid": "5503", "rank": "3"}}},
			NoMatch: []string{"- (node_id=c7, ip=10.0.0.2) local_rank=0"},
		},
		{
			Name:     "ray.job_failed",
			Ends:     true,
			Literals: []string{"Job 'raysubmit_", "Job \"raysubmit_"},
			Expr:     `Job ['"](?<job_name>[\w.-]{1,80})['"] failed`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "Ray 2.x, dashboard/modules/job/cli.py",
			Match:   []pattern.Sample{{Line: "Job 'raysubmit_9XyzAb' failed", Want: parser.Fields{"job_name": "raysubmit_9XyzAb"}}},
			NoMatch: []string{"Job 'raysubmit_9XyzAb' submitted successfully", "Job 'raysubmit_9XyzAb' succeeded"},
		},
		{
			Name:     "ray.task_retried",
			Literals: []string{"retries remaining, so the task will be retried"},
			Expr:     `There are (?<retries>\d{1,9}|infinite) retries remaining, so the task will be retried`,
			Kind:     parser.Recovered, Role: parser.Context,
			Source:  src,
			Match:   []pattern.Sample{{Line: "Task f failed. There are 2 retries remaining, so the task will be retried. Error: user exception", Want: parser.Fields{"retries": "2"}}},
			NoMatch: []string{"Task m failed due to oom. There are infinite oom retries remaining, so the task will be retried."},
		},
		{
			// The controller decides RETRY or RAISE and then prints the failure again; a retry starts the worker group anew.
			Name:     "ray.train_retried",
			Literals: []string{"[FailurePolicy] "},
			Expr:     `\[FailurePolicy\] (?:Decision: FailureDecision\.)?RETRY\b`,
			Kind:     parser.Recovered, Role: parser.Context,
			Source: "Ray 2.43+, train/v2/_internal/execution/failure_handling/default.py",
			Match: lines(
				"[FailurePolicy] RETRY",
				"[FailurePolicy] Decision: FailureDecision.RETRY, Error source: worker group, Error count / maximum errors allowed: 1/3, Error: Training failed due to worker errors:",
			),
			NoMatch: []string{"[FailurePolicy] RAISE", "[FailurePolicy] Decision: FailureDecision.RAISE, Error count / maximum errors allowed: 4/3"},
		},
	}
}

// rayTune reads what a script reserves for each trial.
func rayTune() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "ray.trial_cpus",
		Literals: []string{".with_resources("},
		Expr:     `\btune\.with_resources\(.{1,200}?[{ (](?:["']cpu["']: {0,2}|cpu=)(?<count>\d{1,4})\b`,
		Gauge:    true, Source: "Ray 2, tune/execution/placement_groups.py, tune/trainable/util.py: a line of a script",
		Match: []pattern.Sample{
			{Line: `    tune.with_resources(train_gbdt, {"cpu": 8}),`, Want: parser.Fields{"count": "8"}},
			{Line: `trainable = tune.with_resources(tune.with_parameters(train, data=data), dict(cpu=4, gpu=1))`, Want: parser.Fields{"count": "4"}},
		},
		NoMatch: []string{`    tune.with_resources(train_gbdt, {"gpu": 1}),`},
	}}
}

// rayIdentity joins a pid with its address and its method, and where the actor's repr tells it, with its rank.
func rayIdentity() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "ray.task_identity",
			Literals: []string{"() (pid="},
			Expr: `(?<method>ray::[^\n()]{1,200})\(\) \(pid=(?<pid>\d{1,10}), ip=(?<host>[0-9a-fA-F.:]{2,45})` +
				`(?:, actor_id=[0-9a-f]{1,64})?(?:, repr=[^\n()]{0,200}\[rank=(?<rank>\d{1,6})\])?`,
			Marker: "identity",
			Source: "Ray 2.x, python/ray/exceptions.py RayTaskError; NeMo-RL workers tell their rank in repr",
			Match: []pattern.Sample{
				{
					Line: "ray::WorkerDict.actor_rollout_update_actor() (pid=311860, ip=10.20.4.17, actor_id=adecfce0, repr=<verl.single_controller.ray.base.WorkerDict object at 0x7f>)",
					Want: parser.Fields{"pid": "311860", "host": "10.20.4.17", "method": "ray::WorkerDict.actor_rollout_update_actor"},
				},
				{
					Line: "ray::lm_policy-0-9:MegatronPolicyWorker.save_checkpoint() (pid=41122, ip=10.65.3.71, actor_id=7ec6f9, repr=MegatronPolicyWorker[rank=9])",
					Want: parser.Fields{"pid": "41122", "host": "10.65.3.71", "rank": "9", "method": "ray::lm_policy-0-9:MegatronPolicyWorker.save_checkpoint"},
				},
			},
			NoMatch: []string{"ray::WorkerDict.init_model()"},
		},
	}
}
