package envelope

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

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
