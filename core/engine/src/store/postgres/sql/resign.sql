UPDATE ojs_leader SET until = 'epoch' WHERE node = $1
