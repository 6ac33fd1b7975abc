package weights

import (
	"errors"
	"fmt"
)

// Families of architectures.
const (
	FamilyAveraged = "averaged"
	FamilyDnCNN    = "dncnn"
	FamilyLevelMap = "levelmap"
)

// CardOf returns the card of a file, which must be of the given family. A nil file is an error.
func (f *File) CardOf(family string) (Card, error) {
	if f == nil {
		return Card{}, errors.New("no weight file")
	}
	card, err := f.Card()
	if err != nil {
		return Card{}, err
	}
	if card.Architecture.Family != family {
		return Card{}, fmt.Errorf("the weights %q are of the family %q, not %q", card.Name, card.Architecture.Family, family)
	}
	return card, nil
}
