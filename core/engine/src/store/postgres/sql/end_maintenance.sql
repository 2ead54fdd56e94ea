DELETE FROM ojs_maintenance
