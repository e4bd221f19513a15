package fair

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFill(t *testing.T) {
	for _, c := range []struct {
		owed  []int64
		limit int
		want  []int
	}{
		{nil, 10, []int{}},
		{[]int64{0, 0}, 10, []int{0, 0}},
		{[]int64{1_000_000, 1, 2}, 10, []int{7, 1, 2}},
		{[]int64{100, 100, 100}, 10, []int{4, 3, 3}},
		{[]int64{5, 5}, 100, []int{5, 5}},
		{[]int64{1000, 1}, 1, []int{0, 1}},
	} {
		if got := Fill(c.owed, c.limit); !slices.Equal(got, c.want) {
			t.Errorf("Fill(%v, %d): got %v, want %v", c.owed, c.limit, got, c.want)
		}
	}
}

// Water-filling: the limit is used up as far as there is something, nobody gets more than is owed, and a group that gets
// less than is owed gets no less than anyone else, except for the one that divisions leave over.
func TestFillIsFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owed := rapid.SliceOfN(rapid.Int64Range(0, 50), 0, 30).Draw(t, "owed")
		limit := rapid.IntRange(1, 200).Draw(t, "limit")
		got := Fill(owed, limit)
		var sum, all int64
		for i := range got {
			sum, all = sum+int64(got[i]), all+owed[i]
			if got[i] < 0 || int64(got[i]) > owed[i] {
				t.Fatalf("log %d is owed %d and gets %d", i, owed[i], got[i])
			}
		}
		if sum != min(all, int64(limit)) {
			t.Fatalf("Fill(%v, %d) gives out %d", owed, limit, sum)
		}
		for i := range got {
			for j := range got {
				if int64(got[i]) < owed[i] && got[j] > got[i]+1 {
					t.Fatalf("Fill(%v, %d) = %v: log %d is starved by %d", owed, limit, got, i, j)
				}
			}
		}
	})
}

func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 40), 0, 12), 0, 12).Draw(t, "sizes")
		most := rapid.IntRange(1, 300).Draw(t, "most")
		got := Fit(sizes, most)
		bytes, messages, there := 0, 0, 0
		for i := range got {
			for _, n := range sizes[i][:got[i]] {
				bytes += n
			}
			messages, there = messages+got[i], there+len(sizes[i])
		}
		if bytes > most && messages != 1 {
			t.Fatalf("%d bytes in %d messages, at most %d", bytes, messages, most)
		}
		if there > 0 && messages == 0 {
			t.Fatal("nothing is served although there is something")
		}
		for i := range got {
			if got[i] < len(sizes[i]) && bytes+sizes[i][got[i]] <= most {
				t.Fatalf("the next message of log %d would fit: %d + %d of %d", i, bytes, sizes[i][got[i]], most)
			}
		}
	})
}
