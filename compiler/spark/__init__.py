"""What Spark does for dfc: recorded traces become typed Parquet, and a profile. The only folder that imports pyspark."""
