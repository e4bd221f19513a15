package queued

import (
	"slices"
	"testing"
)

func TestList(t *testing.T) {
	q := New[*int]()
	one, two, three := 1, 2, 3
	if got := q.Next(); got != nil || len(q.More()) != 0 {
		t.Fatalf("an empty list gives %v", got)
	}
	for _, n := range []*int{&one, &two, &three} {
		q.Add(n)
	}
	<-q.More()
	if got := q.Next(); got != &one {
		t.Errorf("got %d, want 1", *got)
	}
	<-q.More() // another worker is woken
	if got := q.TakeAll(); !slices.Equal(got, []*int{&two, &three}) || q.Next() != nil {
		t.Errorf("got %d, want two, and nothing after that", len(got))
	}
}
