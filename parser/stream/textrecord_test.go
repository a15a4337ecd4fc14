package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestARecordOfTextsHasNoKeyOfALog pairs rows of data sets, requests and judgments with records of the same form in which something failed.
func TestARecordOfTextsHasNoKeyOfALog(t *testing.T) {
	t.Parallel()
	const oom = `RuntimeError: CUDA error: out of memory`
	for record, texts := range map[string]bool{
		`{'id': 'so-7', 'lang': 'en', 'text': 'I get ` + oom + `', 'len': 31}`:                                          true,
		`first row: {"text": "` + oom + `", "label": 3}`:                                                                true,
		`{"prompts": ["Q: It says ` + oom + `\nA:"], "tokens_to_generate": 16, "top_k": 1}`:                             true,
		`   {"criteria_met": false, "explanation": "It says '` + oom + `'."}`:                                           true,
		`{"url": "https://a.b/1", "id": 4, "type": "Comment", "plain_body": "` + oom + `", "created_at": "2025-06-12"}`: true,
		`{"question": "why", "passage": "\"` + oom + `\" she said"}`:                                                    true,
		`{"text": "` + oom + `", "meta": {"lang": "en"}, "source": "forum"}`:                                            false, // one text, and nothing that says of what kind
		`{"text": "` + oom + `"}`:                                                 false,
		`{"id": 7, "text": "` + oom + `", "level": "warning"}`:                    false,
		`{"id": 7, "text": "` + oom + `", "rank": 3}`:                             false,
		`{"id": 7, "text": "` + oom + `", "exit_code": 1}`:                        false,
		`{"id": 7, "text": "` + oom + `", "type": "error"}`:                       false,
		`{"id": 7, "text": "` + oom + `", "tags": ["failed"]}`:                    false,
		`{"id": 7, "text": "` + oom + `", "channel": "#ops"}`:                     false,
		`{"id": 7, "text": "hello"} ` + oom:                                       false,
		`embedding failed: {"id": 7, "text": "` + oom + `"}`:                      false,
		`{"id": 7, "text": "hello", "label": "` + oom + `"}`:                      false,
		`{"id": 7, "response": "` + oom + `"}`:                                    false,
		`{"id": 7, "text": "` + oom + `", "label": 3`:                             false,
		`{"id": 7, "text": "` + oom + `}`:                                         false,
		`{id: 7, text: "` + oom + `"}`:                                            false,
		`{"id": 7, "text": "` + oom + `", "state": "x"}`:                          false,
		`{"id": 7, "text": "` + oom + `", "source": "stdout"}`:                    false,
		`{"id": 7, "body": "` + oom + `", "labels": {"app": "trainer"}}`:          false,
		`{"id": 7, "body": "` + oom + `", "timeUnixNano": "1761922000000000000"}`: false,
		`{}`: false,
		``:   false,
	} {
		assert.Equal(t, texts, isTextRecord([]byte(record)), record)
	}
}
