package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
)

// TestTextMasksACredentialBesideItsName has a password, without the look of a key, for each %.
func TestTextMasksACredentialBesideItsName(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"behind got":                       "AssertionError: DB_PASSWORD must not be empty, got '%'",
		"behind a word's got":              "password must be longer, got '%'",
		"of a property of Java":            "java -Dsecret.key=% -jar x.jar",
		"behind found":                     "api_key should have 40 characters, found \"%\"",
		"in quotes":                        "ValueError: Invalid MINIO_SECRET_KEY '%' provided",
		"as the input of a model":          "1 validation error for Settings\ndb_password\n  Input should be a valid integer [type=int_parsing, input_value='%', input_type=str]",
		"as the input of a model, escaped": `"Settings\napi_key\n  Input should be a valid integer [type=int_parsing, input_value='%', input_type=str]"`,
		"a login with a slash":             "login me / %",
		"without an underscore":            "export VOLC_ACCESSKEY=%",
		"in code that signs":               "hmac.new(b'%', body, sha256)",
		"of W&B's config.yaml":             "db_password:\n  desc: null\n  value: %",
		"of an age key of another length":  "AGE-SECRET-KEY-%",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, value := range []string{"Tr0ub4dor", "falcon42", "Falconcluster4819"} {
				assert.NotContains(t, secret.Stable(with(text, value)), value)
			}
		})
	}
	for _, text := range []string{
		"max_tokens must be positive, got '4096k'", "cache_key must not be empty, got 'step12'", "unknown eos_token 'endoftext2'", "login node / gpu01", "login / logout 123456", "secret 'db2' not found",
		"Settings\nmax_tokens\n  Input should be a valid integer [type=int_parsing, input_value='4096k', input_type=str]", "lr:\n  desc: null\n  value: 1e-5", "hmac.new(key, body, sha256)", `secret_name 'db-prod-2'`,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

// TestTextMasksIssuedKeysInOtherPlaces has keys whose look tells them, most of them for each #.
func TestTextMasksIssuedKeysInOtherPlaces(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"behind a quoted word that a model has": `level=info msg="start" kaggle_key=# n=1`,
		"in a column of CSV":                    "name,kaggle_key,n\nrun1,#,2",
		"in an encoded address":                 "GET /x?rpc=https%3A%2F%2Fmainnet.infura.io%2Fv3%2F# HTTP/1.1",
		"in an encoded address of a hook":       "url=https%3a%2f%2fopen.feishu.cn%2fopen-apis%2fbot%2fv2%2fhook%2f#",
		"in an address of QuickNode":            "RPC_URL=https://aged-old-sky.quiknode.pro/#/",
		"of a bot, which begins with no A":      "BOT=987654321:Bx" + alnum[:33],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := secret.Stable(strings.ReplaceAll(text, "#", hex40))
			assert.NotContains(t, got, hex40[:16])
			assert.NotContains(t, got, alnum[:16])
		})
	}
	basic := "x=Basic%20" + base64.StdEncoding.EncodeToString([]byte("user:oqcprrsIzIrydc"))
	assert.NotContains(t, secret.Stable(basic), "dXNlcjpv")
	for _, text := range []string{
		"Basic authentication is used", "sort_key,commit\nstep," + hex40, "https://gitlab.example.com/api/v4/projects/team%2Fproject/x", "rank 3 at 1717171717:" + hex40[:35], "the cache key " + hex40,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}
