"""Mechanisms: what a researcher did between attempts, measured. Observational: none of it shows what caused a score."""
