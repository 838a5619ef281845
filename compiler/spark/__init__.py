"""What Spark does for dfc: recorded traces become typed Parquet and a profile. Only this folder imports pyspark."""
