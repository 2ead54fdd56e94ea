SELECT reason, since, until FROM ojs_maintenance
