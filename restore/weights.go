package restore

// The weights that anybody may use.
import _ "github.com/averaged/imaging/weights/open"
