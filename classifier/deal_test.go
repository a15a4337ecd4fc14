package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDeal(t *testing.T) {
	t.Parallel()
	kill := func(pid, cgroup string) string {
		return "Mar  2 11:11:00 n1 kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
			"Mar  2 11:11:01 n1 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=" + cgroup + ",task_memcg=" + cgroup + ",task=python3,pid=" + pid + ",uid=1\n" +
			"Mar  2 11:11:01 n1 kernel: Memory cgroup out of memory: Killed process " + pid + " (python3) total-vm:18044088kB, anon-rss:16759220kB, file-rss:1228kB, shmem-rss:0kB, UID:1 pgtables:33008kB oom_score_adj:0\n"
	}
	c := gather(t, map[string]string{"kern.log": kill("11", "/slurm/uid_1/job_7/step_0") + kill("22", "/user.slice") + kill("33", "/user.slice") + kill("44", "/slurm/uid_1/job_9/step_0")})
	all := len(c.files["kern.log"].Events)
	dealt, rest := c.Deal(func(v Victim) int {
		assert.Equal(t, "n1", v.Host)
		switch {
		case v.Job == "7":
			return 0
		case v.PID == 22:
			return 1
		}
		return -1
	})
	pids := func(c *Collector) map[string]bool {
		out := map[string]bool{}
		for _, e := range c.files["kern.log"].Events {
			if pid := e.Fields["pid"]; pid != "" {
				out[pid] = true
			}
		}
		return out
	}
	assert.Len(t, dealt, 2)
	assert.Equal(t, map[string]bool{"11": true}, pids(dealt[0]), "by the job's id")
	assert.Equal(t, map[string]bool{"22": true}, pids(dealt[1]), "by the process")
	assert.Equal(t, map[string]bool{"33": true, "44": true}, pids(rest), "nobody's, and a job's that is not here")
	sum := len(rest.files["kern.log"].Events)
	for _, d := range dealt {
		sum += len(d.files["kern.log"].Events)
	}
	assert.Equal(t, all, sum, "each event is dealt once")
}
