package restore

// The tests are of all networks.
import _ "github.com/averaged/imaging/weights/research"
