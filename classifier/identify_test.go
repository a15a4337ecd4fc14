package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestADeviceOfARayActorIsNoRank holds the rank that a device tells where all processes see all of them against a job of Ray, whose actors may
// see one device each.
func TestADeviceOfARayActorIsNoRank(t *testing.T) {
	t.Parallel()
	const log = "[2026-06-19 17:30:10,330][sft][INFO] - rank 0/2 pid 66310 on n2 device cuda:0\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.00 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.\n"
	own := gather(t, map[string]string{"x.log": log}).Result()
	require.Len(t, own.Incidents, 1)
	require.NotNil(t, own.Incidents[0].Root.Rank)
	rays := gather(t, map[string]string{"x.log": log + "ray.exceptions.RayTaskError(OutOfMemoryError): \x1b[36mray::Trainer.train()\x1b[39m (pid=42813, ip=10.119.2.5, actor_id=53238a391bc3ff6648711d1a02000000)\n"}).Result()
	require.Len(t, rays.Incidents, 1)
	assert.Equal(t, "ray", rays.Run.Launcher)
	assert.Nil(t, rays.Incidents[0].Root.Rank)
}
