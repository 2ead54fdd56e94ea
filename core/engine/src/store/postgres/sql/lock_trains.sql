SELECT num FROM ojs_trains
WHERE num = ANY (ARRAY(
  SELECT train FROM ojs_train_cars WHERE job = ANY ($1)
  UNION SELECT num FROM ojs_trains WHERE tenant = '' AND id = ANY ($2)))
ORDER BY num FOR UPDATE
