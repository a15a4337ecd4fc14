package secret_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
)

// TestTextMasksAHexadecimalKeyInASentence tells keys from the hashes of caches, which have no more than the word "key" in common.
func TestTextMasksAHexadecimalKeyInASentence(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"key % not valid", "using key %", "the key is %", "INFO invalid key: %", "Key %", "401: wrong key '%'", "AUTH %", "Auth %", "pat %", "credentials %", "using X-Auth %",
	} {
		for _, value := range []string{hex40, hex40[:32], hex40 + hex40[:24]} {
			assert.NotContains(t, secret.Stable(with(text, value)), value[:16], text)
		}
	}
	for _, text := range []string{
		"cache key " + hex40, "cache key: " + hex40, "Cache key = fp16-i64-fp16x128x128x64", "the partition key -> " + hex40, "looking up key " + hex40 + " in the cache", "the cache has no key " + hex40, "sort key " + hex40, "cache-key: " + hex40, "[fx cache] key " + hex40, "pat 5 credentials 3",
		"found key 3f2504e0-4f89-41d3-9a0c-0305e82c3301", "author " + hex40,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

// TestTextMasksTheArgumentOfACall has calls and options of programs that take a credential.
func TestTextMasksTheArgumentOfACall(t *testing.T) {
	t.Parallel()
	const account = "00112233445566778899001122334455"
	for _, text := range []string{
		"+ openssl enc -aes-256-cbc -K % -iv 0", "['openssl', 'enc', '-K', '%']", "+ openssl dgst -hmac % f", "+ openssl mac -macopt hexkey:% f", "+ ipmitool -I lanplus -H h -k % power status", "+ ipmitool -y % power status",
		"+ xauth add :0 MIT-MAGIC-COOKIE-1 %", "node1/unix:0  MIT-MAGIC-COOKIE-1  %", "Client('AC" + account + "', '%')", "+ curl -u AC" + account + ":% https://x",
		`{"key": "DB_PASSWORD", "val": "%"}`, "{'auth': ('me', '%')}", `api_key: Optional[str] = Field("%")`, `api_key: str = Field(default="%")`, "x = SecretStr('%')", `SecretBytes(b"%")`,
	} {
		const key = "abcdef0123456789abcdef0123456789"
		assert.NotContains(t, secret.Stable(with(text, key)), key[:8], text)
	}
	for _, text := range []string{
		`name: Optional[str] = Field("attention8")`, "SecretStr('**********')", `{"auth": ["basic", "bearer1"]}`, `{"key": "lr", "val": "0.25"}`, "+ openssl enc -iv 0 -in x", "AC" + account + " is the commit " + hex40,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}
