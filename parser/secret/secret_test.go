package secret_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
)

// Assembled here, so that scanners do not report this file.
var (
	alnum = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6" // 36 characters, digits and both cases
	hex40 = "0123456789abcdef0123456789abcdef01234567"
)

// TestTextMasksCredentials covers forms beyond those of package secrettest.
func TestTextMasksCredentials(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, secret string }{
		"hugging face":          {"401 for token hf_" + alnum[:34] + " at hub", alnum[:34]},
		"aws secret":            {"aws_secret_access_key = " + alnum + "/+ab", alnum},
		"aws secret in env":     {"AWS_SECRET_ACCESS_KEY=" + alnum + "/+ab python train.py", "/+ab"},
		"wandb as a flag":       {"--use_wandb --wandb_key " + hex40 + " --lr 1", hex40},
		"bearer header":         {"{'Authorization': 'Bearer " + alnum + "'}", alnum},
		"bearer without digits": {"Authorization: Bearer onlywordsinhere", "onlywordsinhere"},
		"basic header":          {"authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"},
		"url with password":     {"clone https://me:hunter2@git.example.com/x", "hunter2"},
		"url with long user":    {"clone https://" + alnum + "@git.example.com/x", alnum},
		"redis without user":    {"redis://:s3cr3t@head:6379/0", "s3cr3t"},
		"signed url":            {"GET https://b.s3.amazonaws.com/x?X-Amz-Signature=" + hex40 + "&y=1", hex40},
		"private key":           {"-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----", "MIIEow"},
		"private key, cut":      {"-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk", "b3BlbnNzaC1rZXk"},
		"password in quotes":    {`connect(password="correct horse battery")`, "horse"},
		"password in yaml":      {"  db_password: hunter2", "hunter2"},
		"escaped json":          {`{\"api_key\": \"` + alnum + `\"}`, alnum},
		"netrc":                 {"machine api.wandb.ai login user password " + hex40, hex40},
		"database variable":     {"MYSQL_PWD=hunter2x mysqldump db", "hunter2x"},
		"ssh variable":          {"SSHPASS=hunter2x sshpass -e ssh h", "hunter2x"},
		"docker":                {`{"auths":{"ghcr.io":{"auth":"ZG9ja2VyOmh1bnRlcjJ4eQ=="}}}`, "ZG9ja2Vy"},
		"kubernetes":            {"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJ", "LS0tLS1C"},
		"a service's token":     {"codecov_token=" + hex40[:32], hex40[:32]},
		"a list":                {"api_keys=['" + alnum + "', '" + alnum + "']", alnum},
		"second of two":         {"a_token=" + alnum + " password=zzz9zzz", "zzz9zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := secret.Text(c.text)
			assert.NotContains(t, got, c.secret)
			assert.Contains(t, got, secret.Mask)
			assert.Equal(t, got, secret.Text(got), "masking twice changes nothing")
		})
	}
}

func TestTextKeepsOtherWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"commit " + hex40,
		"(WorkerDict pid=12, ip=10.0.0.1, actor_id=4b1c2d3e4f5a6b7c8d9e0f1a01000000, repr=<x>)",
		"Node ID: 4b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f80912, node_id=" + hex40,
		"sha256:" + hex40 + hex40[:24] + " checksum=" + hex40 + " md5=0123456789abcdef",
		"/models/hf_llama_3_1_8b_instruct_finetuned_checkpoint/task-specific-evaluation-dataset-v2/global_step_10",
		"eos_token_id=128009 pad_token='<|endoftext|>' eos_token: </s> EOS_TOKEN=<|im_end|> max_token=4096 token: 128009",
		"Input token: 4096 exceeds max; KeyError: 'reward_model', key: prompt, cache_key=abc, prompt_key=question",
		"Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
		"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True http://10.0.0.1:8000/v1/completions@x",
		"s3://bucket/run-0123456789/epoch=3-step=1000.ckpt git@github.com:org/repo.git",
		"cmd = python -u -m deepspeed.launcher.launch --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgMywgNCwgNSwgNiwgN119 --master_port=29500",
		"frame #3: _ZNSt6vectorIN2at6TensorESaIS1_EE + 0x2f and _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEE",
		"Qwen2_5_VLForConditionalGeneration Qwen3VLMoeTextSparseMoeBlockForConditionalGeneration cross-encoder/ms-marco-MiniLM-L-6-v2",
		"/tmp/TestALogReadHereIsToldFromOneOfItsName1064841465/001/rank_0.log",
		"sort_key=step_token_level_reward_mean next_token=128009 page_token=none",
		"wandb: Syncing run vibrant-sun-42 https://wandb.ai/team/project/runs/8k2j4h6g",
		"Basic blocks, basic authentication-free; Bearer tokens are not used here",
		"Unexpected token: identifier at line 3; token=None api_key=null password='' HF_TOKEN=$HF_TOKEN --api-key --tp 8",
		"torch.OutOfMemoryError: CUDA out of memory. token: expected",
	} {
		assert.Equal(t, text, secret.Text(text))
	}
}

func FuzzText(f *testing.F) {
	f.Add("password=x token: y")
	f.Add("--api-key '--api-key' \"x\\\"")
	f.Add("://:@ Bearer Basic -----BEGIN PRIVATE KEY-----")
	f.Fuzz(func(t *testing.T, s string) {
		once := secret.Text(s)
		assert.LessOrEqual(t, len(once), len(s)+len(secret.Mask)*(strings.Count(s, "=")+strings.Count(s, ":")+strings.Count(s, "-")+strings.Count(s, "_")+strings.Count(s, " ")+2))
	})
}

func BenchmarkTextOfAnErrorMessage(b *testing.B) {
	s := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. See https://pytorch.org/docs/stable/notes/cuda.html#environment-variables"
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		secret.Text(s)
	}
}

// TestTimeIsLinear masks long runs of prefixes of credentials.
func TestTimeIsLinear(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"---", "curl -u a ", "'--api_key', ", "Cookie: a", "://a:", `\"`, "hf_", "set x_key "} {
		begin := time.Now()
		secret.Stable(strings.Repeat(unit, 40_000/len(unit)))
		assert.Less(t, time.Since(begin), 2*time.Second, unit)
	}
}

// TestClipMasksBeforeItCuts cuts texts with credentials at every fifth length, or at all if OOMSCAN_TEST_ALL is set.
func TestClipMasksBeforeItCuts(t *testing.T) {
	t.Parallel()
	step := 5
	if os.Getenv("OOMSCAN_TEST_ALL") != "" {
		step = 1
	}
	for _, key := range []string{
		"hf_" + alnum[:34], "sk-proj-" + alnum, "ghp_" + alnum, "AKIA" + "ABCDEFGHIJKLMNOP", "eyJhbGciOiJIUzI1NiJ9." + alnum + "." + alnum,
		"password=" + alnum, "db_password: hunter2hunter2", "https://me:" + alnum + "@git.example.com/x", "--api-key " + alnum, `"token": "` + alnum + `"`,
		"password: nonesuch", "a:b,password:nullable1", strings.Repeat("password=x9 ", 9),
	} {
		for _, text := range []string{
			"lost " + key + " and more words", strings.Repeat("word ", 30) + key + " " + key, strings.Repeat("x", 300) + "," + key + strings.Repeat("y", 40), key,
		} {
			for limit := 0; limit < len(text)+2; limit += step {
				got := secret.Clip(text, limit)
				assert.LessOrEqual(t, len(got), limit, "%q", text)
				assert.Equal(t, got, secret.Text(got), "%q at %d", text, limit)
				assert.Equal(t, got, secret.Clip(got, limit), "%q at %d", text, limit)
				for n := 0; n+8 <= len(alnum); n += 4 {
					assert.NotContains(t, got, alnum[n:n+8], "%q at %d", text, limit)
				}
			}
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("password: nonesuch token=x", 13)
	f.Add("--api-key '--api-key' \"x\\\"", 9)
	f.Add("password=x password=y", 11)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		if limit < 0 || len(s) > 1<<12 {
			t.Skip()
		}
		got := secret.Clip(s, limit)
		assert.LessOrEqual(t, len(got), limit)
		assert.Equal(t, got, secret.Text(got))
	})
}
