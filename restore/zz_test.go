package restore_test
import ("testing";"time";"fmt";"github.com/averaged/imaging/restore")
func TestZZ(t *testing.T){
 x:=noisy(picture(3,320,480),0.1,1)
 for _,m:=range []string{"general","guided"} {
 r,_:=restore.New(restore.Method(m),restore.Threads(1)); 
 r.Denoise(t.Context(),x,restore.Sigma(0.1))
 best:=time.Hour
 for i:=0;i<12;i++{ t0:=time.Now(); r.Denoise(t.Context(),x,restore.Sigma(0.1)); best=min(best,time.Since(t0))}
 fmt.Println(m,best)
 r.Close()}
}
