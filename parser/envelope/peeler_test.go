package envelope

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestACoatThatBeginsWithABracketAndADigitIsTried holds the short lists of coats for such lines against the whole ones.
func TestACoatThatBeginsWithABracketAndADigitIsTried(t *testing.T) {
	t.Parallel()
	took := 0
	for _, rest := range []string{
		"rank3]: x", "pod/job-0/main] x", "prterun-n-7@1,3]<stderr>: x", ",3]<stderr>:x", "12.345678] x", "12.345678][ T12] x",
		"Sun Jun  1 10:00:00 2025] x", "node01:123] x", "default3]:x", "]:x", "601 10:00:00.123456 x.cpp:607] x", "E x.cpp:607] x",
		"Rank 5 | Local Rank 5] 2026-02-11 03:14:15,091 INFO [a.py:103] => x", "NeMo I 2025-06-01 10:00:00 nemo_logging:393] x",
		"INFO|trainer.py:2000] 2025-06-01 10:00:00,123 >> x", "Stage-0] INFO 12-03 11:20:10 [core.py:844] x", "main]    x",
		"rollout] x", "actor/2] x", "ERROR] 2025-06-19-03:10:00 (PID:3, Device:3, RankID:3) x", "INFO] 2026-01-14 05:20:12,312 a >> x",
		"resource.labels.containerName: main] x", "025-06-01 10:00:00] x", "025-06-01 10:00:00,1 E 7 8] a.cc:1: x", "5-06-01 TP3] x",
		"0:00:00] x", "0250601-10:00:00.1] x", " 1.345678] x",
	} {
		for digit := '0'; digit <= '9'; digit++ {
			line := []byte("[" + string(digit) + rest)
			p, all := peeler{h: NewHeader()}, peeler{h: NewHeader()}
			body, ok := p.one(line)
			want, told := []byte(nil), false
			for _, take := range append(outerBracket[:len(outerBracket):len(outerBracket)], innerBracket...) {
				if want, told = take(&all, scanner{line}); told {
					break
				}
			}
			assert.Equal(t, told, ok, "%s", line)
			assert.Equal(t, want, body, "%s", line)
			assert.Equal(t, all.h, p.h, "%s", line)
			if told {
				took++
			}
		}
	}
	assert.Greater(t, took, 20)
}

func TestADateIsADayThatExists(t *testing.T) {
	t.Parallel()
	for _, year := range []int{0, 1, 1900, 1970, 2000, 2023, 2024, 9999} {
		for month := range 100 {
			for day := range 100 {
				at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
				assert.Equal(t, month >= 1 && month <= 12 && day >= 1 && at.Day() == day, isDate(year, month, day), "%d-%d-%d", year, month, day)
			}
		}
	}
}
