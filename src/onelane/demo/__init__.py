"""The main job on this machine: files dropped in S3 are done one at a time, in order, and it is measured."""
