package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAKillSaysByWhomAndWhoseMemoryWasFull(t *testing.T) {
	t.Parallel()
	const killed = "Killed process 101 (python) total-vm:9kB, anon-rss:45892939kB, file-rss:42205kB, shmem-rss:0kB"
	constraint := func(kind, groups string) string {
		return "kernel: oom-kill:constraint=" + kind + ",nodemask=(null),cpuset=/,mems_allowed=0" + groups + ",task=python,pid=101,uid=1\n"
	}
	for name, c := range map[string]struct {
		log  string
		want Kill
	}{
		"the kernel, for a job's limit": {
			"kernel: python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
				constraint("CONSTRAINT_MEMCG", ",oom_memcg=/slurm/uid_1/job_77,task_memcg=/slurm/uid_1/job_77/step_0") + "kernel: Memory cgroup out of memory: " + killed + "\n",
			Kill{"kernel", "job"},
		},
		"the kernel, for a container's limit": {
			"kernel: python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
				constraint("CONSTRAINT_MEMCG", ",oom_memcg=/kubepods/pod1/c0,task_memcg=/kubepods/pod1/c0") + "kernel: Memory cgroup out of memory: " + killed + "\n",
			Kill{"kernel", "container"},
		},
		"the kernel, for the node": {
			"kernel: python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
				constraint("CONSTRAINT_NONE", ",global_oom,task_memcg=/slurm/uid_1/job_77/step_0") + "kernel: Out of memory: " + killed + "\n",
			Kill{"kernel", "node"},
		},
		"the kernel, whose limit is cut away": {"kernel: " + killed + "\n", Kill{By: "kernel"}},
		"Slurm counts what the kernel did":    {"slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.\n", Kill{By: "kernel"}},
		"Slurm, which polls what a job uses":  {"slurmstepd: error: Job 7 exceeded memory limit (631204112 > 524288000), being killed\n", Kill{"slurm", "job"}},
		"the kubelet":                         {"The node was low on resource: memory. Threshold quantity: 100Mi, available: 40Mi. Container main was using 9Gi, request is 1Gi.\n", Kill{By: "kubelet"}},
		"nobody killed":                       {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", Kill{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Kill)
		})
	}
}

// TestTheLargestProcessOfRaysTableIsNotTheVictim reads tables whose first row is another process than the one that Ray named, or failed.
func TestTheLargestProcessOfRaysTableIsNotTheVictim(t *testing.T) {
	t.Parallel()
	const table = "PID\tMEM(GB)\tCOMMAND\n4100\t60.25\tray::Replay.run\n4200\t50.25\tpython train.py\n4400\t2.50\tray::load_shard()\n"
	const old = "ray.memory_monitor.RayOutOfMemoryError: More than 95% of the memory on node n1 is used (119.50 / 125.25 GB). The top 10 memory consumers are:\n\n"
	for name, c := range map[string]struct {
		log string
		pid int // 0 is unknown
	}{
		"the killed task has its pid": {"ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.7, ID: 82) where the task (task ID: 77, " +
			"name=load_shard, pid=4400, memory used=2.50GB) was running was 118.99GB / 125.26GB (0.949941), which exceeds the memory usage threshold of 0.95. Top 10 memory users:\n" + table, 4400},
		"the old monitor, in a task":         {"ray.exceptions.RayTaskError(RayOutOfMemoryError): ray::load_shard() (pid=4400, ip=10.0.0.7)\n  File \"a.py\", line 3, in f\n" + old + table, 4400},
		"the old monitor, in an unknown one": {old + table, 0},
	} {
		got := read(t, map[string]string{"a.log": c.log}).Incidents
		require.Len(t, got, 1, name)
		assert.Len(t, got[0].Root.Tasks, 3, name)
		if c.pid == 0 {
			assert.Nil(t, got[0].Root.PID, name)
			assert.Nil(t, got[0].Root.ProcessBytes, name)
			continue
		}
		require.NotNil(t, got[0].Root.PID, name)
		assert.Equal(t, c.pid, *got[0].Root.PID, name)
		require.NotNil(t, got[0].Root.ProcessBytes, name)
		assert.EqualValues(t, 5<<29, *got[0].Root.ProcessBytes, name)
	}
}

// TestSrunNamesTheTaskOfAControlGroup has a group that counts the tasks of a second node.
func TestSrunNamesTheTaskOfAControlGroup(t *testing.T) {
	t.Parallel()
	const kernel = "May 24 19:24:07 n2 kernel: python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
		"May 24 19:24:07 n2 kernel: oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/slurmstepd.scope/job_77/step_0/user/task_0,task=python,pid=101,uid=1\n" +
		"May 24 19:24:07 n2 kernel: Out of memory: Killed process 101 (python) total-vm:9kB, anon-rss:45892939kB, file-rss:42205kB, shmem-rss:0kB\n"
	for name, c := range map[string]struct {
		srun string
		want int // -1 is unknown
	}{
		"nothing from srun":          {"", 0},
		"the task of the node":       {"srun: error: n2: task 4: Killed\nsrun: error: n2: tasks 5-7: Terminated\n", 4},
		"the same task":              {"srun: error: n2: tasks 0-3: Killed\n", 0},
		"several tasks":              {"srun: error: n2: tasks 4-7: Killed\n", -1},
		"two tasks":                  {"srun: error: n2: task 4: Killed\nsrun: error: n2: task 6: Killed\n", -1},
		"others, which were stopped": {"srun: error: n2: tasks 5-7: Terminated\n", 0},
	} {
		got := read(t, map[string]string{"a.log": kernel + c.srun}).Incidents
		require.NotEmpty(t, got, name)
		rank := -1
		if r := got[0].Root.Rank; r != nil {
			rank = *r
		}
		assert.Equal(t, c.want, rank, name)
	}
}

func TestAStormNamesEveryVictimOnce(t *testing.T) {
	t.Parallel()
	log := "May 24 19:24:07 gpu31 kernel: Out of memory: Killed process 101 (python) total-vm:9kB, anon-rss:45892939kB, file-rss:0kB, shmem-rss:0kB\n" +
		"May 24 19:24:09 gpu31 kernel: Out of memory: Killed process 102 (python) total-vm:9kB, anon-rss:44892939kB, file-rss:0kB, shmem-rss:0kB\n" +
		"May 24 19:24:11 gpu31 kernel: Out of memory: Killed process 103 (raylet) total-vm:9kB, anon-rss:4892939kB, file-rss:0kB, shmem-rss:0kB\n" +
		"May 24 19:24:11 gpu31 kernel: oom_reaper: reaped process 103 (raylet), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB\n"
	got := read(t, map[string]string{"dmesg.txt": log}).Incidents
	require.Len(t, got, 1)
	var pids []int
	for _, k := range got[0].Killed {
		pids = append(pids, k.PID)
		assert.NotNil(t, k.Resident, k.PID)
	}
	assert.Equal(t, []int{101, 102, 103}, pids)
}

func TestABusErrorIsMemoryWhereDevShmIsShownToBeSmall(t *testing.T) {
	t.Parallel()
	const killed = "2023-06-13T14:32:50Z ERROR text_generation_launcher: Download process was signaled to shutdown with signal 7: \nError: DownloadError\n"
	const hardware = "Memory failure: 0x3f2a11: Sending SIGBUS to python:5512 due to hardware memory corruption\n"
	for name, c := range map[string]struct {
		log  string
		want Verdict
	}{
		"a full one, seen later":                 {killed + "shm              64M   62M  2.1M  97% /dev/shm\n", Memory},
		"a full one of its own size":             {"$ docker run --shm-size=8g tgi python serve.py\nshm             8.0G  8.0G     0 100% /dev/shm\n" + killed, Memory},
		"one of the size that containers get":    {"shm              64M     0   64M   0% /dev/shm\n" + killed, Memory},
		"a large one, empty again":               {killed + "tmpfs            64G     0   64G   0% /dev/shm\n", Suspect},
		"another mount that is full":             {killed + "/dev/nvme2n1    492G  492G     0 100% /data\n", Suspect},
		"a small one, and memory that is broken": {hardware + "shm              64M     0   64M   0% /dev/shm\n" + killed, Suspect},
		"none that is shown":                     {killed, Suspect},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Verdict)
		})
	}
}
