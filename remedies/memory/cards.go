package memory

import (
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
)

// card is how much memory a card offers to a program, in GiB: less than its name says, and a little different from driver
// to driver.
type card struct {
	name      string
	gb        int // as the name says it; 0 where the name says nothing
	low, high float64
}

// cards are the capacities in PyTorch's messages, from the lowest to the highest that were seen.
var cards = []card{
	{"A100", 80, 79.1, 79.4},
	{"A100", 40, 39.3, 39.6},
	{"A800", 80, 79.1, 79.4},
	{"A800", 40, 39.3, 39.6},
	{"H100", 80, 79.0, 79.7},
	{"H800", 80, 79.0, 79.7},
	{"V100", 32, 31.7, 31.8},
	{"V100", 16, 15.75, 15.8},
	{"H200", 0, 139.7, 140.5},
	{"H20", 0, 95.0, 95.6},
	{"B200", 0, 178.0, 179.2},
	{"L40S", 0, 44.3, 44.6},
	{"L40", 0, 44.3, 44.6},
	{"L4", 0, 21.9, 22.2},
	{"A10", 0, 21.9, 22.2},
	{"A10G", 0, 21.9, 22.2},
	{"A30", 0, 23.4, 23.8},
	{"A40", 0, 44.3, 47.6},
	{"T4", 0, 14.5, 14.8},
	{"RTX A6000", 0, 44.3, 47.6},
	{"RTX A4000", 0, 15.6, 15.8},
	{"RTX A5000", 0, 23.4, 23.8},
	{"RTX 3070", 0, 7.6, 8},
	{"RTX 4070", 0, 11.5, 12},
	{"RTX 4080", 0, 15.5, 16},
	{"RTX 3090", 0, 23.4, 23.7},
	{"RTX 4090", 0, 23.4, 23.7},
	{"RTX 5090", 0, 31.3, 31.9},
}

// BySMI is the name of a card whose size nvidia-smi printed.
const BySMI = "nvidia-smi"

// printedSize returns the capacity of the cards by nvidia-smi's tables, if it is the same for all of them, in whatever file of the run. CUDA
// has up to 4 % less.
func printedSize(run *classifier.Run) (size Interval, ok bool) {
	for _, g := range run.Gauges {
		n, known := g.Fields.Int("total")
		if used, ok := g.Fields.Int("used"); ok {
			n = max(n, used) // a query may ask for them in the other order
		}
		if g.Name != "smi.memory" && g.Name != "smi.card" || !known {
			continue
		}
		if v := (Interval{n - n/25, n}); !ok {
			size, ok = v, true
		} else if v != size {
			return Interval{}, false
		}
	}
	return size, ok
}

// CardSize returns the capacity of the cards that an incident's input names, and the name. ok is false if it names no card of
// known size, or several.
func CardSize(run *classifier.Run, in *classifier.Incident) (size Interval, name string, ok bool) {
	if size, ok := printedSize(run); ok {
		return size, BySMI, true
	}
	for _, g := range run.Gauges {
		if g.Name != "gpu.card" || g.At.Source != in.Root.At.Source {
			continue
		}
		gb, _ := strconv.Atoi(g.Fields["gb"])
		found := false
		for _, c := range cards {
			if c.name != g.Fields["card"] || c.gb > 0 && c.gb != gb {
				continue
			}
			found = true
			if ok && c.name != name {
				return Interval{}, "", false
			}
			v := Interval{int64(c.low * (1 << 30)), int64(c.high * (1 << 30))}
			if ok && v != size {
				return Interval{}, "", false
			}
			size, name, ok = v, c.name, true
		}
		if !found {
			return Interval{}, "", false
		}
	}
	return size, name, ok
}

// CardOfAtLeast returns the capacity of the smallest card, in bytes, that has at least so many. ok is false if no card that is listed has.
func CardOfAtLeast(bytes int64) (size int64, ok bool) {
	for _, c := range cards {
		if low := int64(c.low * (1 << 30)); low >= bytes && (!ok || low < size) {
			size, ok = low, true
		}
	}
	return size, ok
}

// beforeBF16 lists cards whose hardware has no bf16, and that their capacity alone identifies.
var beforeBF16 = []string{"V100", "T4"}

// WithoutBF16 returns the name of a card that cannot compute in bf16, by its capacity; "" for others.
func WithoutBF16(total int64) string {
	for _, c := range cards {
		if gib := float64(total) / (1 << 30); slices.Contains(beforeBF16, c.name) && gib >= c.low && gib <= c.high {
			return "a " + c.name
		}
	}
	return ""
}

// flashCards lists cards that FlashAttention 2 supports, Ampere and later, and that their capacity alone identifies: Turing has cards of
// 48 GB, too.
var flashCards = []string{"A100", "A800", "H100", "H800", "H200", "H20", "B200"}

// TakesFlashAttention reports whether all cards of this capacity support FlashAttention 2.
func TakesFlashAttention(total int64) bool {
	return slices.ContainsFunc(cards, func(c card) bool {
		gib := float64(total) / (1 << 30)
		return slices.Contains(flashCards, c.name) && gib >= c.low && gib <= c.high
	})
}

// unified lists machines whose GPU has no memory of its own, and whose capacity no card has. A Jetson AGX
// Orin is left out: an Ascend 910B has as much.
var unified = []card{
	{"DGX Spark", 0, 119, 121.9},
	{"Jetson Thor", 0, 122.4, 123.2},
}

// Unified returns the name of a machine whose GPU works in the host's memory, by its capacity; "" for others.
func Unified(total int64) string {
	for _, c := range unified {
		if gib := float64(total) / (1 << 30); gib >= c.low && gib <= c.high {
			return "a " + c.name
		}
	}
	return ""
}

// amounts matches sizes of memory as users write them: 80GiB, 141 GB, 1.5T.
var amounts = lazyre.New(`(?i)^([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([kmgt])(?:i?b)?$`)

// Capacity reads an amount of memory: a size with its unit, in powers of two, or the name of a card ("H100", "A100 80GB"), of
// which the least counts that such cards have.
func Capacity(text string) (int64, bool) {
	text = strings.Trim(text, `"' `)
	if m := amounts().FindStringSubmatch(text); m != nil {
		f, err := strconv.ParseFloat(m[1], 64)
		shift := map[string]int{"k": 10, "m": 20, "g": 30, "t": 40}[strings.ToLower(m[2])]
		n := f * float64(int64(1)<<shift)
		return int64(n), err == nil && n >= 1 && n < mostPart
	}
	words := strings.FieldsFunc(strings.ToUpper(text), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	var low float64
	for _, c := range cards {
		named := slices.Contains(words, c.name) || strings.Join(words, " ") == c.name
		sized := c.gb == 0 || slices.Contains(words, strconv.Itoa(c.gb)+"GB") || slices.Contains(words, strconv.Itoa(c.gb)+"G")
		if !named || !sized && c.others() {
			continue
		}
		if low > 0 && low != c.low {
			return 0, false
		}
		low = c.low
	}
	return int64(low * (1 << 30)), low > 0
}

// others reports whether cards of that name come in several sizes.
func (c *card) others() bool {
	return slices.ContainsFunc(cards, func(o card) bool { return o.name == c.name && o.gb != c.gb })
}
