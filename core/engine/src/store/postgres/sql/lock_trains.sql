SELECT num FROM ojs_trains
WHERE num = ANY (ARRAY(
  SELECT train FROM ojs_train_cars WHERE job = ANY ($1)
  UNION SELECT t.num FROM unnest($2::text[], $3::text[]) AS joined (tenant, id)
    LEFT JOIN ojs_tenants n ON n.id = joined.tenant JOIN ojs_trains t ON t.tenant = coalesce(n.num, 0) AND t.id = joined.id))
ORDER BY num FOR UPDATE
